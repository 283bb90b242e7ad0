import { describe, expect, it, vi } from 'vitest';

import { sweepKnobs, trialsAfter } from './experiments.ts';
import { createFakeServe, NO_RECORDER } from './test-support.ts';
import type { Trial } from './summarize.ts';

describe('the search for knobs', () => {
  const options = {
    signal: new AbortController().signal,
    latencyLimitMs: 500,
    recorder: NO_RECORDER,
    onStart: () => {},
    onProgress: () => {},
    onTrial: () => {},
  };
  const trace = { requests: [{ atMs: 0, prompt: 'once', maxNewTokens: 1, seed: 1 }] };

  it.each([
    ['off', 'continuous'],
    ['static', 'static'],
    ['continuous', 'continuous'],
  ] as const)('under %s tries them under %s, and leaves the policy as it was', async (before, during) => {
    const { serve, target, configured } = createFakeServe(before);
    const override = await serve.overridePolicy();
    const trials: Trial[] = [];
    await sweepKnobs(target, trace, { ...options, override, onTrial: (trial) => trials.push(trial) });
    await override.release();
    expect(new Set(trials.map(({ policy }) => policy.policy))).toEqual(new Set([during]));
    expect(configured.at(-1)?.policy).toBe(before);
  });

  it('runs every size, forward and backward in each second round, until the rounds are over where nothing differs', async () => {
    const { serve, target } = createFakeServe('continuous');
    const runs: string[] = [];
    // The fake answers all alike, but the clock of a test is not even.
    vi.spyOn(performance, 'now').mockReturnValue(0);
    const suggestion = await sweepKnobs(target, trace, {
      ...options,
      override: await serve.overridePolicy(),
      onTrial: ({ policy, round }) => runs.push(`${round}: ${policy.maxBatchSize}`),
    });
    const there = [1, 2, 4, 8, 16];
    expect(runs).toEqual(
      [1, 2, 3, 4, 5].flatMap((round) =>
        (round % 2 === 1 ? there : there.toReversed()).map((size) => `${round}: ${size}`),
      ),
    );
    expect(suggestion?.sizes.contenders).toHaveLength(5);
    expect(suggestion).not.toHaveProperty('waits');
  });

  it('tries waits at the best size, and ends early where the rounds are clear', async () => {
    // Longer batches finish sooner, and longer waits later.
    const { serve, target } = createFakeServe('continuous', ({ maxBatchSize, batchWaitTimeoutMs }) => ({
      e2eMs: 1000 / maxBatchSize + 10 * batchWaitTimeoutMs,
    }));
    vi.spyOn(performance, 'now').mockReturnValue(0);
    const suggestion = await sweepKnobs(target, trace, {
      ...options,
      override: await serve.overridePolicy(),
    });
    expect(suggestion?.sizes.contenders.map(({ label }) => label)).toEqual(['size 16, wait 0 ms']);
    expect(suggestion?.sizes.best.rounds).toHaveLength(3);
    expect(suggestion?.waits?.contenders.map(({ label }) => label)).toEqual(['size 16, wait 0 ms']);
  });

  it('has the best of the runs that were over where it was stopped', async () => {
    const abort = new AbortController();
    const { serve, target } = createFakeServe('continuous');
    const onTrial = (): void => abort.abort();
    const suggestion = await sweepKnobs(target, trace, {
      ...options,
      override: await serve.overridePolicy(),
      signal: abort.signal,
      onTrial,
    });
    expect(suggestion?.isStopped).toBe(true);
    expect(suggestion?.sizes.candidates.map(({ label }) => label)).toEqual(['size 1, wait 0 ms']);
  });
});

describe('the trials left in a search', () => {
  it('are this round’s contenders again, then the rounds of the waits', () => {
    expect(trialsAfter(1, 5, 4)).toEqual({ least: 20, most: 40 });
    expect(trialsAfter(3, 5, 4)).toEqual({ least: 10, most: 30 });
  });

  it('leave out the waits where all rounds can’t tell the sizes apart', () => {
    expect(trialsAfter(5, 2, 4)).toEqual({ least: 0, most: 20 });
    expect(trialsAfter(5, 2, 0)).toEqual({ least: 0, most: 0 });
  });
});
