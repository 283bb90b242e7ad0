import { describe, expect, it } from 'vitest';

import type { Outcome } from './load-sender.ts';
import { summarize } from './summarize.ts';

function finished(e2eMs: number, numOutputTokens = 10): Outcome {
  const timings = { queueWaitMs: 1, ttftMs: e2eMs / 2, e2eMs, tpotMs: 2 };
  return {
    status: 'finished',
    sentMs: 0,
    finishReason: 'length',
    numPromptTokens: 3,
    numOutputTokens,
    timings,
  };
}

describe('a summary', () => {
  it('counts what became of the requests, and rates over the whole run', () => {
    const outcomes: Outcome[] = [
      finished(100),
      finished(900, 30),
      { status: 'rejected', sentMs: 5 },
      { status: 'failed', sentMs: 5, code: 'MODEL_RUN' },
      { status: 'cancelled', sentMs: 5 },
    ];
    expect(summarize({ outcomes, durationMs: 2000 }, 500)).toMatchObject({
      numSent: 5,
      numFinished: 2,
      numRejected: 1,
      numFailed: 1,
      numCancelled: 1,
      numPromptTokens: 6,
      numOutputTokens: 40,
      tokensPerSecond: 20,
      requestsPerSecond: 1,
      goodputPerSecond: 0.5,
      e2eMs: { p50: 100, p95: 900, p99: 900 },
    });
  });

  it('has no latencies where nothing finished', () => {
    expect(summarize({ outcomes: [], durationMs: 0 }, 500)).toMatchObject({
      tokensPerSecond: 0,
      e2eMs: undefined,
    });
  });
});
