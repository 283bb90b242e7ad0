import { describe, expect, it } from 'vitest';
import { ortInUse } from '../../runtime/ort.ts';
import { OnnxNodes } from './onnx-nodes.ts';
import { encodeOnnxModel, type OnnxInitializer, type OnnxValue } from './onnx-proto.ts';
import { untiledProducts, type WeightMatrix } from './weight-products.ts';

const WIDE = { name: 'weight', numInputs: 16, numOutputs: 512 };
/** As many outputs as can't be halved into groups of four. */
const UNEVEN = { ...WIDE, numOutputs: 516 };
const NARROW = { ...WIDE, numOutputs: 504 };
const LONG = { ...WIDE, numInputs: 129 };

const NUM_TOKENS = 6;

function valuesOf(length: number, seed: number): Float32Array<ArrayBuffer> {
  return Float32Array.from({ length }, (_, i) => Math.sin(i * i + seed));
}

function initializer(name: string, dims: readonly number[], seed: number): OnnxInitializer {
  const values = valuesOf(
    dims.reduce((product, dim) => product * dim),
    seed,
  );
  return { name, type: 'float32', dims, data: new Uint8Array(values.buffer) };
}

interface Product {
  readonly opTypes: readonly string[];
  readonly values: Float32Array;
}

/** Runs the product of `NUM_TOKENS` inputs with a matrix, in one of the two layouts of a matrix. */
async function run(matrix: WeightMatrix, layout: 'conv1d' | 'linear', bias = ''): Promise<Product> {
  const { name, numInputs, numOutputs } = matrix;
  const nodes = new OnnxNodes();
  const lists = new Map<string, OnnxInitializer>();
  const products = untiledProducts(nodes, (...values) => {
    const list = `list_${values.join('_')}`;
    const data = new Uint8Array(BigInt64Array.from(values, BigInt).buffer);
    lists.set(list, { name: list, type: 'int64', dims: [values.length], data });
    return list;
  });
  const isLinear = layout === 'linear';
  if (isLinear) products.project('input', matrix, 'output', bias);
  else products.multiply('input', matrix, 'output');
  const tokens = isLinear ? ['T'] : ['B', 'S'];
  const value = (of: string, width: number): OnnxValue => ({
    name: of,
    type: 'float32',
    dims: [...tokens, width],
  });
  const graph = encodeOnnxModel({
    name: 'product',
    nodes: nodes.all,
    inputs: [value('input', numInputs)],
    outputs: [value('output', numOutputs)],
    initializers: [
      initializer(name, isLinear ? [numOutputs, numInputs] : [numInputs, numOutputs], 1),
      ...(bias === '' ? [] : [initializer(bias, [numOutputs], 2)]),
      ...lists.values(),
    ],
  });
  const ort = await ortInUse();
  const session = await ort.InferenceSession.create(graph, { executionProviders: ['wasm'] });
  const dims = isLinear ? [NUM_TOKENS, numInputs] : [2, NUM_TOKENS / 2, numInputs];
  const input = new ort.Tensor('float32', valuesOf(NUM_TOKENS * numInputs, 3), dims);
  const { output } = await session.run({ input });
  await session.release();
  expect(output?.dims).toEqual([...dims.slice(0, -1), numOutputs]);
  return {
    opTypes: nodes.all.map(({ opType }) => opType),
    values: Float32Array.from(output?.data ?? [], Number),
  };
}

/** The same product in float64. */
function expected({ numInputs, numOutputs }: WeightMatrix, layout: 'conv1d' | 'linear', bias = ''): number[] {
  const input = valuesOf(NUM_TOKENS * numInputs, 3);
  const weights = valuesOf(numInputs * numOutputs, 1);
  const added = valuesOf(numOutputs, 2);
  return Array.from({ length: NUM_TOKENS * numOutputs }, (_, index) => {
    const [token, output] = [Math.floor(index / numOutputs), index % numOutputs];
    let sum = bias === '' ? 0 : (added[output] ?? NaN);
    for (let i = 0; i < numInputs; i++) {
      const at = layout === 'linear' ? output * numInputs + i : i * numOutputs + output;
      sum += (input[token * numInputs + i] ?? NaN) * (weights[at] ?? NaN);
    }
    return sum;
  });
}

function largestDifference(values: Float32Array, reference: readonly number[]): number {
  expect(values).toHaveLength(reference.length);
  return reference.reduce(
    (largest, value, i) => Math.max(largest, Math.abs(value - (values[i] ?? Infinity))),
    0,
  );
}

describe('products without tiles', () => {
  it.each([
    ['conv1d', ''],
    ['linear', ''],
    ['linear', 'bias'],
  ] as const)('are right for a wide %s matrix, with the bias "%s"', async (layout, bias) => {
    const product = await run(WIDE, layout, bias);
    expect(product.opTypes).toContain('Conv');
    expect(largestDifference(product.values, expected(WIDE, layout, bias))).toBeLessThan(1e-5);
  });

  it.each([
    ['outputs that cannot be halved into groups of four', UNEVEN],
    ['few outputs', NARROW],
    ['long sums', LONG],
  ])('leave a matrix with %s in tiles', async (_, matrix) => {
    for (const [layout, opType] of [
      ['conv1d', 'MatMul'],
      ['linear', 'Gemm'],
    ] as const) {
      const product = await run(matrix, layout);
      expect(product.opTypes).toEqual([opType]);
      expect(largestDifference(product.values, expected(matrix, layout))).toBeLessThan(1e-4);
    }
  });
});
