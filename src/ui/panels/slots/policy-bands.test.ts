import { describe, expect, it } from 'vitest';

import { policyBands } from './policy-bands.ts';

const POLICIES = [
  { policy: 'continuous', atMs: 100 },
  { policy: 'static', atMs: 500 },
  { policy: 'off', atMs: 900 },
] as const;

const namesIn = (startMs: number, endMs: number) =>
  policyBands(POLICIES, { startMs, endMs }).map(({ policy }) => policy);

describe('the bands of the policies', () => {
  it('are those in force in the span, the one that it began with included', () => {
    expect(namesIn(600, 800)).toEqual(['static']);
    expect(namesIn(100, 600)).toEqual(['continuous', 'static']);
    expect(namesIn(950, 2000)).toEqual(['off']);
  });

  it('begin with the first policy that was reported, though it was reported late', () => {
    expect(policyBands(POLICIES, { startMs: 0, endMs: 50 })).toMatchObject([
      { policy: 'continuous', startMs: -Infinity },
    ]);
  });

  it('leave out one that ends where the span begins, or begins where it ends', () => {
    expect(namesIn(500, 900)).toEqual(['static']);
  });

  it('last until the next one, and the newest for good', () => {
    expect(policyBands(POLICIES, { startMs: 600, endMs: 1000 })).toEqual([
      { policy: 'static', startMs: 500, endMs: 900, isOdd: true },
      { policy: 'off', startMs: 900, endMs: Infinity, isOdd: false },
    ]);
  });
});
