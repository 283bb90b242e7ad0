import { describe, expect, it } from 'vitest';

import { rotate } from '../../models/checkpoint/rotation.ts';
import { quantizedRowBytes } from './kernels.ts';
import { digest, KernelBench, randomBytes, randoms, VARIANTS } from './test-support.ts';

const ROWS = 8;
/** No tile divides it. */
const OUTPUTS = 37;
/** Ranges of one output, of a tile, and of several with a rest. */
const RANGES = [
  [0, 1],
  [1, 9],
  [9, 30],
  [30, OUTPUTS],
] as const;

interface Product {
  readonly x: Float32Array;
  weightOf(output: number, input: number): number;
  /** Multiplies rows from `row` on, for outputs `first` to `end`. */
  multiply(out: number, row: number, rows: number, first: number, end: number): void;
}

function floatProduct(bench: KernelBench, inputs: number, bias: number): Product {
  const [x, w] = [randoms(ROWS * inputs), randoms(OUTPUTS * inputs, 1, 2)];
  const [xAt, wAt] = [bench.put(x), bench.put(w)];
  return {
    x,
    weightOf: (output, input) => w[output * inputs + input] ?? NaN,
    multiply(out, row, rows, first, end) {
      const at = xAt + 4 * row * inputs;
      bench.kernels.multiplyFloat(at, inputs, wAt, bias, out, OUTPUTS, rows, inputs, first, end);
    },
  };
}

function int8Product(bench: KernelBench, inputs: number, bias: number): Product {
  const { kernels } = bench;
  const x = randoms(ROWS * inputs);
  const codes = new Int8Array(randomBytes(OUTPUTS * inputs, 2));
  const scales = randoms(OUTPUTS, 0.01, 3);
  const [codesAt, scalesAt, sumsAt] = [bench.put(codes), bench.put(scales), bench.room(4 * OUTPUTS)];
  const rowBytes = quantizedRowBytes(inputs);
  const quantized = bench.room(ROWS * rowBytes);
  kernels.sumCodes(codesAt, sumsAt, OUTPUTS, inputs);
  kernels.quantizeForInt8(bench.put(x), inputs, quantized, ROWS, inputs, 1, 0);
  return {
    x,
    weightOf: (output, input) => (scales[output] ?? NaN) * (codes[output * inputs + input] ?? NaN),
    multiply(out, row, rows, first, end) {
      const at = quantized + row * rowBytes;
      kernels.multiplyInt8(at, codesAt, scalesAt, sumsAt, bias, out, OUTPUTS, rows, inputs, first, end);
    },
  };
}

function int4Product(bench: KernelBench, inputs: number, bias: number): Product {
  const { kernels } = bench;
  const numBlocks = inputs / 32;
  const zeroBytes = Math.ceil(numBlocks / 2);
  const x = randoms(ROWS * inputs);
  const codes = randomBytes((OUTPUTS * inputs) / 2, 2);
  const scales = randoms(OUTPUTS * numBlocks, 0.1, 3);
  const zeroPoints = randomBytes(OUTPUTS * zeroBytes, 4);
  const [codesAt, scalesAt, zerosAt] = [bench.put(codes), bench.put(scales), bench.put(zeroPoints)];
  const rowBytes = quantizedRowBytes(inputs);
  const quantized = bench.room(ROWS * rowBytes);
  kernels.quantizeForInt4(bench.put(x), inputs, quantized, ROWS, inputs);
  return {
    x,
    weightOf(output, input) {
      const block = input >> 5;
      const zero = halfAt(zeroPoints, 2 * output * zeroBytes + block);
      return (scales[output * numBlocks + block] ?? NaN) * (halfAt(codes, output * inputs + input) - zero);
    },
    multiply(out, row, rows, first, end) {
      const at = quantized + row * rowBytes;
      kernels.multiplyInt4(at, codesAt, scalesAt, zerosAt, bias, out, OUTPUTS, rows, inputs, first, end);
    },
  };
}

function halfAt(bytes: Uint8Array, index: number): number {
  return ((bytes[index >> 1] ?? NaN) >> (4 * (index & 1))) & 15;
}

/** 33, 100 and 1000 are divided by no tile, and a sum of 4864 products of int8 may not fit into an int32. */
const CASES = [
  { name: 'fp32', prepare: floatProduct, widths: [3, 33, 100, 576, 1000, 1100], error: 2e-6 },
  { name: 'int8', prepare: int8Product, widths: [3, 33, 100, 576, 1000, 4864], error: 3e-4 },
  { name: '4 bits', prepare: int4Product, widths: [32, 96, 576, 4864], error: 3e-4 },
].flatMap(({ widths, ...rest }) => widths.map((inputs) => ({ ...rest, inputs })));

describe.each(CASES)('a product of $inputs inputs in $name', ({ prepare, inputs, error }) => {
  const biases = randoms(OUTPUTS, 1, 5);

  async function compute(variant: (typeof VARIANTS)[number]) {
    const bench = await KernelBench.of(variant);
    const product = prepare(bench, inputs, bench.put(biases));
    const out = bench.room(4 * ROWS * OUTPUTS);
    product.multiply(out, 0, ROWS, 0, OUTPUTS);
    return { bench, product, values: bench.floats(out, ROWS * OUTPUTS) };
  }

  it('is near that in float64, beside the size of what it sums up', async () => {
    const { product, values } = await compute('simd');
    const [sums, sizes] = [new Float64Array(values.length), new Float64Array(values.length)];
    for (let i = 0; i < values.length; i++) {
      const [row, output] = [Math.floor(i / OUTPUTS), i % OUTPUTS];
      let [sum, size] = [biases[output] ?? NaN, 1];
      for (let input = 0; input < inputs; input++) {
        const part = (product.x[row * inputs + input] ?? NaN) * product.weightOf(output, input);
        sum += part;
        size += part * part;
      }
      [sums[i], sizes[i]] = [sum, Math.sqrt(size)];
    }
    const errors = values.map((value, i) => Math.abs(value - (sums[i] ?? NaN)) / (sizes[i] ?? NaN));
    expect(Math.max(...errors)).toBeLessThan(error);
  });

  it('has the same bits in both modules, for one row, two, three and eight, and for ranges of outputs', async () => {
    const { values } = await compute('simd');
    for (const variant of VARIANTS) {
      const { bench, product, values: others } = await compute(variant);
      expect(digest(others)).toBe(digest(values));
      const parts = bench.room(4 * ROWS * OUTPUTS);
      for (const [first, end] of RANGES)
        for (const [row, rows] of [
          [0, 1],
          [1, 3],
          [4, 2],
          [6, 2],
        ] as const)
          product.multiply(parts + 4 * row * OUTPUTS, row, rows, first, end);
      expect(digest(bench.floats(parts, ROWS * OUTPUTS))).toBe(digest(values));
    }
  });
});

/** The first machine recorded them: another one shows here if its sums differ. */
it.each([
  ['fp32', floatProduct, 'cc6f67a0132a142e'],
  ['int8', int8Product, 'a24a9213cb1ec950'],
  ['4 bits', int4Product, 'd7c1c8cdaa6f23ad'],
] as const)('a product in %s has the bits that were recorded', async (_name, prepare, recorded) => {
  for (const variant of VARIANTS) {
    const bench = await KernelBench.of(variant);
    const out = bench.room(4 * ROWS * OUTPUTS);
    prepare(bench, 576, 0).multiply(out, 0, ROWS, 0, OUTPUTS);
    expect(digest(bench.floats(out, ROWS * OUTPUTS))).toBe(recorded);
  }
});

it.each(VARIANTS)('a row of zeros and one with NaN stay what they are: %s', async (variant) => {
  const bench = await KernelBench.of(variant);
  const x = new Float32Array(2 * 32);
  x[40] = NaN;
  const codes = bench.put(randomBytes(32));
  const [scale, sum, out] = [bench.put(randoms(1)), bench.room(4), bench.room(8)];
  const quantized = bench.room(2 * quantizedRowBytes(32));
  bench.kernels.sumCodes(codes, sum, 1, 32);
  bench.kernels.quantizeForInt8(bench.put(x), 32, quantized, 2, 32, 1, 0);
  bench.kernels.multiplyInt8(quantized, codes, scale, sum, 0, out, 1, 2, 32, 0, 1);
  expect([...bench.floats(out, 2)].map(Math.abs)).toEqual([0, NaN]);
});

it('turned inputs and turned weights have the product of those that are not', async () => {
  const bench = await KernelBench.of('simd');
  const { kernels } = bench;
  const inputs = 192;
  const x = randoms(inputs);
  // One large value takes the integers of all others where it isn't spread.
  x[5] = 300;
  const [xAt, wAt, turned] = [bench.put(x), bench.put(randoms(inputs, 1, 2)), bench.room(4 * inputs)];
  const [scale, sum, out] = [bench.put(Float32Array.of(1)), bench.room(4), bench.room(4)];
  kernels.rotate(wAt, wAt, 1, inputs, 64);
  const turnedWeights = bench.floats(wAt, inputs);
  const codes = Int8Array.from(turnedWeights, (value) => Math.round(value * 40));
  // The weights that the codes stand for.
  const w = Float32Array.from(codes);
  rotate(w);
  const quantized = bench.room(quantizedRowBytes(inputs));
  const codesAt = bench.put(codes);
  kernels.sumCodes(codesAt, sum, 1, inputs);
  kernels.quantizeForInt8(xAt, inputs, quantized, 1, inputs, 64, turned);
  kernels.multiplyInt8(quantized, codesAt, scale, sum, 0, out, 1, 1, inputs, 0, 1);
  const expected = w.reduce((total, weight, i) => total + weight * (x[i] ?? NaN), 0);
  expect(Math.abs((bench.floats(out, 1)[0] ?? NaN) - expected)).toBeLessThan(1e-3 * Math.abs(expected));
});
