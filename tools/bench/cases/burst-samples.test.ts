import { describe, expect, it } from 'vitest';

import { decodeOf, samplesOf } from './burst-samples.ts';

const answer = (tokenMs: readonly number[]) => ({
  continuation: { tokenIds: tokenMs.map((_, index) => index) },
  tokenMs,
  latencyMs: tokenMs.at(-1) ?? 0,
});

describe('decodeOf', () => {
  it('counts the tokens that come while all rows decode', () => {
    const burst = { wallMs: 60, answers: [answer([10, 20, 30, 40]), answer([30, 40, 50, 60])] };
    // From 30 to 40 ms, each row gets one more token.
    expect(decodeOf(burst)).toEqual({ tokensPerSecond: 200, gapsMs: [10, 10] });
  });

  it('is undefined if a row ends before another begins', () => {
    expect(decodeOf({ wallMs: 40, answers: [answer([10, 20]), answer([30, 40])] })).toBeUndefined();
  });
});

describe('samplesOf', () => {
  it('has the rate over all bursts, and a time of each answer', () => {
    const bursts = [
      { wallMs: 100, answers: [answer([20, 100])] },
      { wallMs: 300, answers: [answer([40, 300])] },
    ];
    const samples = samplesOf(bursts, [{ prompt: 'no reference', maxNewTokens: 2 }]);
    expect(samples).toMatchObject({ 'tokens/s': 10, TTFT: [20, 40], latency: [100, 300] });
    expect(samples).not.toHaveProperty('tokens as PyTorch');
  });
});
