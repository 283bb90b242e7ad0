import { describe, expect, it } from 'vitest';

import { runDeltaRule } from '../../testing/reference-delta-rule.ts';
import { digest, distance, KernelBench, randoms, VARIANTS } from './test-support.ts';

/** With the bits of the outputs and the state, as they were recorded. */
const SHAPES = [
  { numKeyHeads: 2, numValueHeads: 2, keySize: 128, valueSize: 128, recorded: '9a6cec9c6337f102' },
  { numKeyHeads: 2, numValueHeads: 6, keySize: 9, valueSize: 39, recorded: '8eb123a842fb5dc9' },
] as const;

const TOKENS = 11;

/** Of each token, so many values behind the first ones. */
function rowsOf(
  all: Float32Array,
  stride: number,
  first: number,
  size: number,
): readonly (readonly number[])[] {
  return Array.from({ length: TOKENS }, (_, token) => {
    const start = token * stride + first;
    return [...all.subarray(start, start + size)];
  });
}

describe.each(SHAPES)('the gated delta rule with $keySize by $valueSize values', ({ recorded, ...heads }) => {
  const { numKeyHeads, numValueHeads, keySize, valueSize } = heads;
  const [keyWidth, width] = [numKeyHeads * keySize, numValueHeads * valueSize];
  // Queries and keys lie side by side, as gates do.
  const [keyStride, gateStride] = [2 * keyWidth, 2 * numValueHeads];
  const keys = randoms(TOKENS * keyStride, 2, 1);
  const values = randoms(TOKENS * width, 2, 2);
  const gates = randoms(TOKENS * gateStride, 3, 3);
  const [rates, biases] = [randoms(numValueHeads, 2, 4), randoms(numValueHeads, 2, 5)];
  const stateLength = numValueHeads * keySize * valueSize;

  type Part = readonly [first: number, count: number, firstHead: number, endHead: number];

  async function run(variant: (typeof VARIANTS)[number], parts: readonly Part[]): Promise<Float32Array> {
    const bench = await KernelBench.of(variant);
    const [key, value, gate] = [bench.put(keys), bench.put(values), bench.put(gates)];
    const [rate, bias] = [bench.put(rates), bench.put(biases)];
    const state = bench.put(new Float32Array(stateLength));
    const out = bench.room(4 * TOKENS * width);
    for (const [first, count, firstHead, endHead] of parts)
      bench.kernels.deltaRule(
        key + 4 * first * keyStride,
        key + 4 * (first * keyStride + keyWidth),
        value + 4 * first * width,
        keyStride,
        width,
        gate + 4 * first * gateStride,
        gate + 4 * (first * gateStride + numValueHeads),
        gateStride,
        rate,
        bias,
        state,
        out + 4 * first * width,
        width,
        count,
        numKeyHeads,
        numValueHeads,
        keySize,
        valueSize,
        firstHead,
        endHead,
      );
    return Float32Array.of(...bench.floats(out, TOKENS * width), ...bench.floats(state, stateLength));
  }

  /** In float64: the outputs, and then the state. */
  function expected(): readonly number[] {
    const inputs = [
      rowsOf(keys, keyStride, 0, keyWidth),
      rowsOf(keys, keyStride, keyWidth, keyWidth),
      rowsOf(values, width, 0, width),
      rowsOf(gates, gateStride, 0, numValueHeads),
      rowsOf(gates, gateStride, numValueHeads, numValueHeads),
    ];
    const { outputs, states } = runDeltaRule(heads, inputs, [rates, biases]);
    return [...outputs.flat(), ...states.flat()];
  }

  const WHOLE: readonly Part[] = [[0, TOKENS, 0, numValueHeads]];
  const BY_TOKENS = Array.from({ length: TOKENS }, (_, token): readonly Part[] => [
    [token, 1, 0, 1],
    [token, 1, 1, numValueHeads],
  ]).flat();
  const BY_HEADS = Array.from({ length: numValueHeads }, (_, head): readonly Part[] => [
    [0, 4, head, head + 1],
    [4, TOKENS - 4, head, head + 1],
  ]).flat();

  it('is near that in float64, and has the bits that were recorded', async () => {
    const actual = await run('simd', WHOLE);
    expect(distance(actual, expected())).toBeLessThan(2e-6);
    expect(digest(actual)).toBe(recorded);
  });

  it('has the same bits in both modules, however it is divided', async () => {
    const whole = digest(await run('simd', WHOLE));
    for (const variant of VARIANTS)
      for (const parts of [WHOLE, BY_TOKENS, BY_HEADS]) expect(digest(await run(variant, parts))).toBe(whole);
  });
});
