import { describe, expect, it } from 'vitest';
import reference from '../../../../tools/reference/fixtures/int8-reference.json' with { type: 'json' };
import { loadOrt, setBuilds } from '../../runtime/ort/ort.ts';
import { WASM_BUILD } from '../../runtime/ort/wasm-build.ts';
import { int8Layout } from '../checkpoint/int8-weights.ts';
import { layOut } from '../checkpoint/packed-weights.ts';
import { GraphWeights, WEIGHTS_LOCATION } from './graph-weights.ts';
import { OnnxNodes } from './onnx-nodes.ts';
import { encodeOnnxModel, type OnnxValue } from './onnx-proto.ts';

const { numRows, length, codes, scales, weights, tokens, quantizedProducts, products } = reference;

const LAYOUT = int8Layout(
  layOut([{ name: 'w', shape: [numRows, length], role: 'embedding' }], 'q8', 'float32'),
);

/** Runs one operation with the matrix of the reference. */
async function run(
  input: OnnxValue,
  values: Float32Array | Int32Array,
  dims: readonly number[],
  add: (weights: GraphWeights) => void,
): Promise<Float32Array> {
  const nodes = new OnnxNodes();
  const matrix = new GraphWeights(nodes, { layout: LAYOUT, maxBindingBytes: Infinity });
  add(matrix);
  const graph = encodeOnnxModel({
    name: 'product',
    nodes: nodes.all,
    inputs: [input],
    outputs: [{ name: 'y', type: 'float32', dims: [...input.dims.filter((dim) => dim !== length), 'width'] }],
    initializers: matrix.initializers,
  });
  const file = new Uint8Array(LAYOUT.size);
  const [packed] = LAYOUT.tensors;
  file.set(new Uint8Array(Int8Array.from(codes).buffer), packed?.offset);
  file.set(new Uint8Array(Float32Array.from(scales).buffer), packed?.scales?.offset);
  setBuilds({ wasm: WASM_BUILD });
  const ort = await loadOrt('wasm');
  const session = await ort.InferenceSession.create(graph, {
    externalData: [{ path: WEIGHTS_LOCATION, data: file }],
  });
  const tensor =
    values instanceof Float32Array
      ? new ort.Tensor('float32', values, dims)
      : new ort.Tensor('int32', values, dims);
  const { y } = await session.run({ [input.name]: tensor });
  await session.release();
  if (!(y?.data instanceof Float32Array)) throw new Error('Expected floats');
  return y.data;
}

const multiply = (rows: readonly number[]): Promise<Float32Array> =>
  run(
    { name: 'x', type: 'float32', dims: ['N', length] },
    Float32Array.from(rows),
    [rows.length / length, length],
    (matrix) => matrix.project('x', 'w', 'y'),
  );

function largestError(found: Float32Array, expected: readonly number[]): number {
  expect(found).toHaveLength(expected.length);
  const largest = Math.max(...expected.map(Math.abs));
  return Math.max(...expected.map((value, i) => Math.abs((found[i] ?? NaN) - value))) / largest;
}

describe('a product in int8', () => {
  it('is that of NumPy in float64, with the same integers', async () => {
    expect(largestError(await multiply(tokens), quantizedProducts)).toBeLessThan(1e-5);
  });

  it('is off by less than 2 % from the product of the numbers, also for a row with one value of 60 deviations', async () => {
    const found = await multiply(tokens);
    for (let row = 0; row < 3; row++) {
      const part = [row * numRows, (row + 1) * numRows] as const;
      expect(largestError(found.subarray(...part), products.slice(...part))).toBeLessThan(0.02);
    }
  });

  it('of each row is the same alone and together, to the last bit', async () => {
    const together = await multiply(tokens);
    for (let row = 0; row < 3; row++) {
      const alone = await multiply(tokens.slice(row * length, (row + 1) * length));
      expect(together.subarray(row * numRows, (row + 1) * numRows)).toEqual(alone);
    }
  });

  it('of a row of zeros is zero', async () => {
    expect(await multiply(Array.from({ length }, () => 0))).toEqual(new Float32Array(numRows));
  });
});

it('a row that is looked up is the row before its rotation, within a step', async () => {
  const ids = [3, 70, 3, 0];
  const found = await run(
    { name: 'ids', type: 'int32', dims: ['B', 'S'] },
    Int32Array.from(ids),
    [2, 2],
    (matrix) => matrix.lookUp('ids', 'w', 'y'),
  );
  const expected = ids.flatMap((id) => weights.slice(id * length, (id + 1) * length));
  expect(largestError(found, expected)).toBeLessThan(0.01);
});
