import { describe, expect, it } from 'vitest';

import { suggest, sweepKnobs } from './experiments.ts';
import type { Trial } from './experiments.ts';
import { PolicyHold } from './policy-hold.ts';
import { createFakeServe, createTrial } from './test-support.ts';

function createSuggestible(label: string, p95: number | undefined, goodputPerSecond: number): Trial {
  const e2eMs = p95 === undefined ? undefined : { p50: p95 / 2, p95, p99: p95 };
  return createTrial(label, { goodputPerSecond, e2eMs });
}

describe('a suggestion', () => {
  it('is what serves the most of what keeps the limit', () => {
    const trials = [
      createSuggestible('1', 100, 2),
      createSuggestible('8', 400, 9),
      createSuggestible('16', 600, 12),
    ];
    expect(suggest(trials, 500)?.label).toBe('8');
  });

  it('is the first of equals', () => {
    const trials = [createSuggestible('2', 100, 5), createSuggestible('4', 90, 5)];
    expect(suggest(trials, 500)?.label).toBe('2');
  });

  it('is what comes closest where nothing keeps the limit, and never what finished nothing', () => {
    const trials = [
      createSuggestible('1', undefined, 0),
      createSuggestible('8', 900, 3),
      createSuggestible('16', 700, 2),
    ];
    expect(suggest(trials, 500)?.label).toBe('16');
  });

  it('is none without a trial', () => {
    expect(suggest([], 500)).toBeUndefined();
  });

  it('is none where requests were stopped: what is left of a run says nothing of the rest', () => {
    const stopped = createTrial('8', { numCancelled: 1, e2eMs: { p50: 1, p95: 2, p99: 3 } });
    expect(suggest([createSuggestible('4', 100, 5), stopped], 500)).toBeUndefined();
  });
});

describe('the search for knobs', () => {
  const options = {
    signal: new AbortController().signal,
    latencyLimitMs: 500,
    onProgress: () => {},
    onTrial: () => {},
  };
  const trace = { requests: [{ atMs: 0, prompt: 'once', maxNewTokens: 1, seed: 1 }] };

  it.each([
    ['off', 'continuous'],
    ['static', 'static'],
    ['continuous', 'continuous'],
  ] as const)('under %s tries them under %s, and leaves the policy as it was', async (before, during) => {
    const { serve, configured } = createFakeServe(before);
    const hold = new PolicyHold(serve);
    const trials = await sweepKnobs(serve, trace, { ...options, hold });
    await hold.release();
    expect(trials).toHaveLength(8);
    expect(trials.map(({ policy }) => policy.policy)).toEqual(trials.map(() => during));
    expect(configured.at(-1)?.policy).toBe(before);
  });
});
