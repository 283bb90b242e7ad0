import { describe, expect, it } from 'vitest';

import { rotate } from '../../models/checkpoint/rotation.ts';
import type { Activation } from '../../models/program/activation.ts';
import { ACTIVATION_KINDS } from './kernels.ts';
import { digest, distance, KernelBench, randomBytes, randoms, VARIANTS } from './test-support.ts';

const ROWS = 3;
/** No tile divides it. */
const WIDTH = 33;
/** Rows are parts of longer ones. */
const STRIDE = 40;

type Run = (bench: KernelBench, x: number, out: number) => void;

/** Runs a kernel on the start of rows of `STRIDE` in both modules, which must give the same bits. */
async function run(x: Float32Array, kernel: Run): Promise<Float32Array> {
  const results: Float32Array[] = [];
  for (const variant of VARIANTS) {
    const bench = await KernelBench.of(variant);
    const out = bench.put(new Float32Array(ROWS * STRIDE));
    kernel(bench, bench.put(x), out);
    results.push(bench.floats(out, ROWS * STRIDE));
  }
  const [first, second] = results;
  if (!first || !second) throw new Error('There are two modules');
  expect(digest(second)).toBe(digest(first));
  return first;
}

/** Rows of `WIDTH` values, one behind the other. */
function rowsOf(values: Float32Array): readonly number[] {
  return Array.from({ length: ROWS }, (_, row) => [
    ...values.subarray(row * STRIDE, row * STRIDE + WIDTH),
  ]).flat();
}

const sigmoid = (x: number): number => 1 / (1 + Math.exp(-x));

/** By the sum of its series. */
function erf(x: number): number {
  if (Math.abs(x) > 5) return Math.sign(x);
  let [term, sum] = [x, x];
  for (let n = 1; n < 120; n++) {
    term *= (-x * x) / n;
    sum += term / (2 * n + 1);
  }
  return (2 / Math.sqrt(Math.PI)) * sum;
}

const ACTIVATIONS: Readonly<Record<Activation, (x: number) => number>> = {
  relu: (x) => Math.max(0, x),
  silu: (x) => x * sigmoid(x),
  gelu_tanh: (x) => 0.5 * x * (1 + Math.tanh(Math.sqrt(2 / Math.PI) * (x + 0.044715 * x ** 3))),
  gelu_erf: (x) => 0.5 * x * (1 + erf(x / Math.SQRT2)),
  quick_gelu: (x) => x * sigmoid(1.702 * x),
  tanh: Math.tanh,
  sigmoid,
};

describe.each(Object.entries(ACTIVATION_KINDS))('the activation %s', (name, kind) => {
  it.each([0.01, 1, 6, 100])('is near that in float64 up to %d', async (size) => {
    const x = randoms(ROWS * STRIDE, size);
    const values = await run(x, ({ kernels }, from, out) =>
      kernels.activate(from, STRIDE, out, STRIDE, ROWS, WIDTH, kind),
    );
    const activation = Object.entries(ACTIVATIONS).find(([key]) => key === name)?.[1] ?? (() => NaN);
    expect(distance(rowsOf(values), rowsOf(x).map(activation))).toBeLessThan(1e-6 * Math.max(size, 0.1));
    expect(values[WIDTH]).toBe(0);
  });
});

it('activations have the bits that were recorded', async () => {
  const x = randoms(ROWS * STRIDE, 6);
  const all: number[] = [];
  for (const kind of Object.values(ACTIVATION_KINDS)) {
    const values = await run(x, ({ kernels }, from, out) =>
      kernels.activate(from, STRIDE, out, STRIDE, ROWS, WIDTH, kind),
    );
    all.push(...values);
  }
  expect(digest(Float32Array.from(all))).toBe('a955562da8817946');
});

describe('norms', () => {
  const x = randoms(ROWS * STRIDE, 3);
  const [gain, bias] = [randoms(WIDTH, 1, 2), randoms(WIDTH, 1, 3)];
  const epsilon = 1e-5;

  function expected(isLayer: boolean, gainOffset: number): readonly number[] {
    return Array.from({ length: ROWS }, (_, row) => {
      const values = [...x.subarray(row * STRIDE, row * STRIDE + WIDTH)];
      const mean = isLayer ? values.reduce((sum, value) => sum + value, 0) / WIDTH : 0;
      const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / WIDTH;
      return values.map(
        (value, i) =>
          ((value - mean) / Math.sqrt(variance + epsilon)) * ((gain[i] ?? NaN) + gainOffset) +
          (isLayer ? (bias[i] ?? NaN) : 0),
      );
    }).flat();
  }

  it('of the root mean square is near that in float64', async () => {
    const values = await run(x, (bench, from, out) =>
      bench.kernels.normalize(from, STRIDE, bench.put(gain), 0, out, STRIDE, ROWS, 1, WIDTH, epsilon, 1, 0),
    );
    expect(distance(rowsOf(values), expected(false, 1))).toBeLessThan(1e-6);
  });

  it('of a layer is near that in float64', async () => {
    const values = await run(x, (bench, from, out) => {
      const [gainAt, biasAt] = [bench.put(gain), bench.put(bias)];
      bench.kernels.normalize(from, STRIDE, gainAt, biasAt, out, STRIDE, ROWS, 1, WIDTH, epsilon, 0, 1);
    });
    expect(distance(rowsOf(values), expected(true, 0))).toBeLessThan(1e-6);
  });

  it.each([0, 1] as const)(
    'of values whose squares overflow fp32 are near those in float64: %d',
    async (isCentered) => {
      const large = x.map((value) => 1e38 * value);
      const values = await run(large, (bench, from, out) =>
        bench.kernels.normalize(
          from,
          STRIDE,
          bench.put(gain),
          isCentered ? bench.put(bias) : 0,
          out,
          STRIDE,
          ROWS,
          1,
          WIDTH,
          epsilon,
          0,
          isCentered,
        ),
      );
      expect(distance(rowsOf(values), expected(isCentered === 1, 0))).toBeLessThan(1e-5);
    },
  );

  it('of a row with Infinity leave other rows as they are', async () => {
    const broken = x.with(STRIDE, Infinity);
    const [before, after] = await Promise.all(
      [x, broken].map((rows) =>
        run(rows, (bench, from, out) =>
          bench.kernels.normalize(
            from,
            STRIDE,
            bench.put(gain),
            0,
            out,
            STRIDE,
            ROWS,
            1,
            WIDTH,
            epsilon,
            0,
            0,
          ),
        ),
      ),
    );
    expect(after?.[STRIDE]).toBeNaN();
    for (const row of [0, 2])
      expect(after?.subarray(row * STRIDE, row * STRIDE + WIDTH)).toEqual(
        before?.subarray(row * STRIDE, row * STRIDE + WIDTH),
      );
  });

  it('of heads are those of the heads alone, in place too', async () => {
    const headSize = 11;
    const normalize =
      (parts: number): Run =>
      (bench, from, out) => {
        const gainAt = bench.put(gain);
        for (let head = 0; head < 3; head += parts)
          bench.kernels.normalize(
            from + 44 * head,
            STRIDE,
            gainAt,
            0,
            out + 44 * head,
            STRIDE,
            ROWS,
            parts,
            headSize,
            epsilon,
            0,
            0,
          );
      };
    const together = await run(x, normalize(3));
    expect(digest(await run(x, normalize(1)))).toBe(digest(together));
    const inPlace = await run(x, (bench, from, out) => {
      bench.kernels.combine(from, STRIDE, out, STRIDE, out, STRIDE, ROWS, WIDTH, 0);
      normalize(3)(bench, out, out);
    });
    expect(digest(inPlace)).toBe(digest(together));
  });
});

describe('values', () => {
  const [a, b] = [randoms(ROWS * STRIDE), randoms(ROWS * STRIDE, 1, 2)];

  it('are added, multiplied and scaled', async () => {
    const sums = await run(a, (bench, from, out) =>
      bench.kernels.combine(from, STRIDE, bench.put(b), STRIDE, out, STRIDE, ROWS, WIDTH, 0),
    );
    expect(rowsOf(sums)).toEqual(rowsOf(a.map((value, i) => value + (b[i] ?? NaN))));
    const products = await run(a, (bench, from, out) =>
      bench.kernels.combine(from, STRIDE, bench.put(b), STRIDE, out, STRIDE, ROWS, WIDTH, 1),
    );
    expect(rowsOf(products)).toEqual(rowsOf(a.map((value, i) => value * (b[i] ?? NaN))));
    const scaled = await run(a, ({ kernels }, from, out) =>
      kernels.scale(from, STRIDE, out, STRIDE, ROWS, WIDTH, 3),
    );
    expect(rowsOf(scaled)).toEqual(rowsOf(a.map((value) => value * 3)));
  });

  it('of tokens are pooled by their shares', async () => {
    const shares = Float32Array.of(0.5, 0, 0.25);
    const pooled = await run(a, (bench, from, out) =>
      bench.kernels.pool(from, STRIDE, bench.put(shares), out, ROWS, WIDTH),
    );
    const expected = Array.from(
      { length: WIDTH },
      (_, i) => 0.5 * (a[i] ?? NaN) + 0.25 * (a[2 * STRIDE + i] ?? NaN),
    );
    expect(distance(pooled, expected)).toBeLessThan(1e-7);
    const infinite = await run(
      a.map((value, i) => (i >= STRIDE && i < 2 * STRIDE ? Infinity : value)),
      (bench, from, out) => bench.kernels.pool(from, STRIDE, bench.put(shares), out, ROWS, WIDTH),
    );
    expect(digest(infinite)).toBe(digest(pooled));
  });

  it.each([
    [1, 2],
    [2, 3],
    [3, 4],
  ])('of %i tokens at a time are convolved with those before, %i in all', async (atOnce, length) => {
    const [tokens, width] = [ROWS, 7];
    const x = randoms(tokens * STRIDE);
    const kernel = randoms(width * length, 1, 2);
    const bias = randoms(width, 1, 3);
    const convolved = await run(x, (bench, from, out) => {
      const state = bench.put(new Float32Array((length - 1) * width));
      const [weights, biases] = [bench.put(kernel), bench.put(bias)];
      for (let t = 0; t < tokens; t += atOnce) {
        const shape = [Math.min(atOnce, tokens - t), width, length] as const;
        const [at, into] = [from + 4 * t * STRIDE, out + 4 * t * STRIDE];
        bench.kernels.shortConv(at, STRIDE, state, weights, biases, into, STRIDE, ...shape);
      }
      expect([...bench.floats(state + 4 * (length - 2) * width, width)]).toEqual([
        ...x.subarray((ROWS - 1) * STRIDE, (ROWS - 1) * STRIDE + width),
      ]);
    });
    const valueAt = (t: number, i: number): number => (t < 0 ? 0 : (x[t * STRIDE + i] ?? NaN));
    for (let t = 0; t < tokens; t++)
      for (let i = 0; i < width; i++) {
        let sum = bias[i] ?? NaN;
        for (let j = 0; j < length; j++)
          sum += (kernel[i * length + j] ?? NaN) * valueAt(t + j - length + 1, i);
        expect(convolved[t * STRIDE + i]).toBeCloseTo(sum, 5);
      }
  });

  it('are turned by positions, a head’s first half with its second, and its rest stays', async () => {
    const [heads, half, headStride] = [2, 5, 13];
    const angles = randoms(4 * half, 3, 4);
    const positions = Int32Array.of(3, 0, 1);
    const turned = await run(a, (bench, from, out) => {
      const zero = bench.put(new Float32Array(ROWS * STRIDE));
      bench.kernels.combine(from, STRIDE, zero, STRIDE, out, STRIDE, ROWS, WIDTH, 0);
      const tables = [angles.map(Math.cos), angles.map(Math.sin)].map((table) => bench.put(table));
      const positionsAt = bench.put(positions);
      bench.kernels.rotary(
        out,
        STRIDE,
        positionsAt,
        tables[0] ?? 0,
        tables[1] ?? 0,
        ROWS,
        heads,
        headStride,
        half,
      );
    });
    const expected = [...a];
    for (const [row, position] of positions.entries())
      for (let head = 0; head < heads; head++)
        for (let i = 0; i < half; i++) {
          const at = row * STRIDE + head * headStride + i;
          const angle = angles[position * half + i] ?? NaN;
          const [x, y] = [a[at] ?? NaN, a[at + half] ?? NaN];
          expected[at] = x * Math.cos(angle) - y * Math.sin(angle);
          expected[at + half] = y * Math.cos(angle) + x * Math.sin(angle);
        }
    expect(distance(rowsOf(turned), rowsOf(Float32Array.from(expected)))).toBeLessThan(1e-6);
  });

  it('of heads go to their places in the cache', async () => {
    const stored = await run(a, ({ kernels }, from, out) =>
      kernels.storeHeads(from, STRIDE, out, 50, 10, ROWS, 2, 7),
    );
    for (const [head, token, i] of [
      [0, 0, 0],
      [0, 2, 6],
      [1, 0, 3],
      [1, 1, 6],
    ] as const)
      expect(stored[head * 50 + token * 10 + i]).toBe(a[token * STRIDE + head * 7 + i]);
    expect(stored[7]).toBe(0);
  });

  it.each([1, 2, 8, 64])('are turned by Hadamard matrices of %d as those of checkpoints', async (size) => {
    const width = 64;
    const expected = a.slice(0, width);
    for (let first = 0; first < width; first += size) rotate(expected.subarray(first, first + size));
    const turned = await run(a, ({ kernels }, from, out) => kernels.rotate(from, out, 1, width, size));
    expect(distance(turned.subarray(0, width), expected)).toBeLessThan(1e-6);
  });
});

describe('rows of a table', () => {
  const ids = Int32Array.of(2, 0, 2);

  it('in fp32 are copied', async () => {
    const table = randoms(3 * STRIDE);
    const rows = await run(table, (bench, from, out) =>
      bench.kernels.embedFloat(from, bench.put(ids), out, ROWS, STRIDE),
    );
    expect([...rows]).toEqual([...ids].flatMap((id) => [...table.subarray(id * STRIDE, (id + 1) * STRIDE)]));
  });

  it('in int8 are multiplied by their scales', async () => {
    const codes = new Int8Array(randomBytes(3 * STRIDE));
    const rows = await run(Float32Array.of(0.5, 1, 0.25), (bench, scales, out) =>
      bench.kernels.embedInt8(bench.put(codes), scales, bench.put(ids), out, ROWS, STRIDE),
    );
    const expected = [...ids].flatMap((id) =>
      [...codes.subarray(id * STRIDE, (id + 1) * STRIDE)].map((code) => code * (id === 0 ? 0.5 : 0.25)),
    );
    expect([...rows]).toEqual(expected);
  });

  it('in 4 bits have the first of two codes in the lower half of a byte, and so zero points', async () => {
    const codes = Uint8Array.from({ length: 48 }, (_, i) => (i < 32 ? 0 : 0x31));
    const zeroPoints = Uint8Array.of(0, 0, 0x01);
    const rows = await run(Float32Array.of(1, 1, 2), (bench, scales, out) =>
      bench.kernels.embedInt4(bench.put(codes), scales, bench.put(zeroPoints), bench.put(ids), out, ROWS, 32),
    );
    expect([rows[0], rows[1], rows[32], rows[64], rows[65]]).toEqual([0, 4, 0, 0, 4]);
  });
});
