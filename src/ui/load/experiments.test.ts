import { describe, expect, it } from 'vitest';

import { suggest } from './experiments.ts';
import type { Trial } from './experiments.ts';

function createTrial(label: string, p95: number | undefined, goodputPerSecond: number): Trial {
  return {
    label,
    policy: {
      policy: 'continuous',
      maxBatchSize: 8,
      batchWaitTimeoutMs: 0,
      maxBatchedTokens: 256,
      maxQueuedRequests: 1000,
      prefixCaching: true,
      kvCacheMemoryBytes: Infinity,
    },
    trace: { requests: [] },
    run: { outcomes: [], durationMs: 1000 },
    summary: {
      numSent: 10,
      numFinished: 10,
      numRejected: 0,
      numFailed: 0,
      numCancelled: 0,
      numPromptTokens: 30,
      numOutputTokens: 100,
      durationMs: 1000,
      tokensPerSecond: 100,
      requestsPerSecond: 10,
      goodputPerSecond,
      ttftMs: undefined,
      tpotMs: undefined,
      queueWaitMs: undefined,
      e2eMs: p95 === undefined ? undefined : { p50: p95 / 2, p95, p99: p95 },
    },
  };
}

describe('a suggestion', () => {
  it('is what serves the most of what keeps the limit', () => {
    const trials = [createTrial('1', 100, 2), createTrial('8', 400, 9), createTrial('16', 600, 12)];
    expect(suggest(trials, 500)?.label).toBe('8');
  });

  it('is the first of equals', () => {
    expect(suggest([createTrial('2', 100, 5), createTrial('4', 90, 5)], 500)?.label).toBe('2');
  });

  it('is what comes closest where nothing keeps the limit, and never what finished nothing', () => {
    const trials = [createTrial('1', undefined, 0), createTrial('8', 900, 3), createTrial('16', 700, 2)];
    expect(suggest(trials, 500)?.label).toBe('16');
  });

  it('is none without a trial', () => {
    expect(suggest([], 500)).toBeUndefined();
  });
});
