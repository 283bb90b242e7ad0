import { describe, expect, it } from 'vitest';

import { attentionScratchBytes } from './kernels.ts';
import { digest, distance, KernelBench, randoms, VARIANTS } from './test-support.ts';

interface Shape {
  readonly name: string;
  readonly heads: number;
  readonly kvHeads: number;
  readonly headSize: number;
  readonly window?: number;
  readonly softcap?: number;
  readonly isCausal?: 0;
  readonly recorded: string;
}

/** With the bits of six tokens over twenty others, as they were recorded. */
const SHAPES: readonly Shape[] = [
  { name: 'three heads for each of keys', heads: 9, kvHeads: 3, headSize: 64, recorded: '649202969234d6c9' },
  { name: 'six heads for each of keys', heads: 6, kvHeads: 1, headSize: 8, recorded: '63b56976c2271efa' },
  { name: 'a window', heads: 4, kvHeads: 2, headSize: 20, window: 5, recorded: 'ad0e813b471cea88' },
  { name: 'capped scores', heads: 2, kvHeads: 2, headSize: 33, softcap: 2, recorded: '6b547244919869b5' },
  { name: 'an encoder', heads: 4, kvHeads: 4, headSize: 32, isCausal: 0, recorded: '744f41c094faa28e' },
];

interface Inputs {
  readonly query: Float32Array;
  readonly keys: Float32Array;
  readonly values: Float32Array;
}

/** Tokens behind a past: a prompt, a token, a part of a prompt, and a past of more than a block of positions. */
const SPANS = [
  [11, 0],
  [1, 37],
  [6, 20],
  [3, 300],
] as const;

const CASES = SHAPES.flatMap((shape) => SPANS.map(([tokens, past]) => ({ ...shape, tokens, past })));

describe.each(CASES)('attention of $tokens tokens over $past others, with $name', (shape) => {
  const { heads, kvHeads, headSize, tokens, past, window = 0, softcap = 0, isCausal = 1, recorded } = shape;
  const positions = past + tokens;
  const width = heads * headSize;
  // Queries lie in rows with keys and values.
  const stride = width + 2 * kvHeads * headSize;
  const query = randoms(tokens * stride, 3);
  const keys = randoms(kvHeads * positions * headSize, 2, 2);
  const values = randoms(kvHeads * positions * headSize, 2, 3);
  const inputs: Inputs = { query, keys, values };

  /** Calls of parts write their share of one output. */
  async function attend(
    variant: (typeof VARIANTS)[number],
    parts: readonly (readonly [first: number, count: number, firstHead: number, endHead: number])[],
    from: Inputs = inputs,
  ) {
    const bench = await KernelBench.of(variant);
    const [queryAt, keysAt, valuesAt] = [from.query, from.keys, from.values].map((each) => bench.put(each));
    const out = bench.room(4 * tokens * width);
    const scratch = bench.room(attentionScratchBytes(positions));
    for (const [first, count, firstHead, endHead] of parts)
      bench.kernels.attend(
        (queryAt ?? 0) + 4 * first * stride,
        stride,
        keysAt ?? 0,
        valuesAt ?? 0,
        positions * headSize,
        headSize,
        out + 4 * first * width,
        width,
        scratch,
        count,
        isCausal ? past + first : positions - count,
        heads,
        kvHeads,
        headSize,
        firstHead,
        endHead,
        1 / Math.sqrt(headSize),
        window,
        softcap,
        isCausal,
      );
    return bench.floats(out, tokens * width);
  }

  function expected(): Float64Array {
    const out = new Float64Array(tokens * width);
    for (let i = 0; i < tokens * heads; i++) {
      const [token, head] = [Math.floor(i / heads), i % heads];
      const kvStart = Math.floor((head * kvHeads) / heads) * positions;
      const end = isCausal ? past + token + 1 : positions;
      const start = window ? Math.max(0, end - window) : 0;
      const scores = Array.from({ length: end - start }, (_, p) => {
        let score = 0;
        for (let k = 0; k < headSize; k++)
          score +=
            (query[token * stride + head * headSize + k] ?? NaN) *
            (keys[(kvStart + start + p) * headSize + k] ?? NaN);
        score /= Math.sqrt(headSize);
        return Math.exp(softcap ? softcap * Math.tanh(score / softcap) : score);
      });
      const sum = scores.reduce((total, score) => total + score, 0);
      for (let k = 0; k < headSize; k++)
        out[i * headSize + k] =
          scores.reduce(
            (all, score, p) => all + score * (values[(kvStart + start + p) * headSize + k] ?? NaN),
            0,
          ) / sum;
    }
    return out;
  }

  it.runIf(tokens === 6)('has the bits that were recorded', async () => {
    expect(digest(await attend('simd', [[0, tokens, 0, heads]]))).toBe(recorded);
  });

  it('is near that in float64, with the same bits in both modules, however it is divided', async () => {
    const whole = await attend('simd', [[0, tokens, 0, heads]]);
    expect(distance(whole, expected())).toBeLessThan(2e-6);
    const one = Array.from(
      { length: tokens },
      (_, t) =>
        [
          [t, 1, 0, 1],
          [t, 1, 1, heads],
        ] as const,
    ).flat();
    const two = Array.from(
      { length: Math.ceil(tokens / 2) },
      (_, i) => [2 * i, Math.min(2, tokens - 2 * i), 0, heads] as const,
    );
    for (const variant of VARIANTS)
      for (const parts of [[[0, tokens, 0, heads] as const], one, two])
        expect(digest(await attend(variant, parts))).toBe(digest(whole));
  });

  it.runIf(isCausal)('is that of a token alone, whatever is infinite or NaN elsewhere', async () => {
    const parts = [[0, tokens, 0, heads] as const];
    const whole = await attend('simd', parts);
    for (let broken = 0; broken < tokens; broken++) {
      // The position of a token, of all heads, and its query.
      const withBroken = (all: Float32Array, value: number): Float32Array =>
        all.map((each, i) => (Math.floor(i / headSize) % positions === past + broken ? value : each));
      const out = await attend('simd', parts, {
        query: query.map((each, i) => (Math.floor(i / stride) === broken ? NaN : each)),
        keys: withBroken(keys, NaN),
        values: withBroken(values, Infinity),
      });
      const isApart = (token: number): boolean => token < broken || (window > 0 && token >= broken + window);
      const expectedOut = whole.map((value, i) => (isApart(Math.floor(i / width)) ? value : NaN));
      expect(out).toEqual(expectedOut);
    }
  });
});
