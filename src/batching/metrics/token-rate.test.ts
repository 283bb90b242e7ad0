import { describe, expect, it } from 'vitest';
import { TokenRate } from './token-rate.ts';

function createRate(numSteps: number, work: { numTokens: number; stepMs: number }): TokenRate {
  const rate = new TokenRate();
  for (let step = 0; step < numSteps; step += 1) rate.record(work);
  return rate;
}

describe('TokenRate', () => {
  it('is zero before any work, and for work that took no time', () => {
    expect(new TokenRate().tokensPerSecond).toBe(0);
    expect(createRate(3, { numTokens: 8, stepMs: 0 }).tokensPerSecond).toBe(0);
  });

  it('divides tokens by the time of work', () => {
    expect(createRate(3, { numTokens: 8, stepMs: 50 }).tokensPerSecond).toBe(160);
  });

  it('counts steps that yield no token as work', () => {
    const rate = createRate(1, { numTokens: 8, stepMs: 50 });
    rate.record({ numTokens: 0, stepMs: 150 });
    expect(rate.tokensPerSecond).toBe(40);
  });

  it('forgets what is more than a second of work ago', () => {
    const rate = createRate(100, { numTokens: 1, stepMs: 50 });
    for (let step = 0; step < 20; step += 1) rate.record({ numTokens: 8, stepMs: 50 });
    expect(rate.tokensPerSecond).toBe(160);
  });

  it('keeps the last step however long it took', () => {
    const rate = createRate(10, { numTokens: 8, stepMs: 50 });
    rate.record({ numTokens: 1, stepMs: 4000 });
    expect(rate.tokensPerSecond).toBe(0.25);
  });
});
