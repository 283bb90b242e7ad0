import { describe, expect, it } from 'vitest';

import type { BatchView } from '../../state/batch-view.ts';
import { createBatch } from '../../testing/test-support.ts';
import { encoderRunOf, summarizeEncoderRun } from './encoder-run.ts';

/** A batch that ended then, on this tab's clock, after 100 ms. */
function batchAt(endedAtMs: number, change: Partial<BatchView> = {}): BatchView {
  const sizes = { batchSize: 4, measuredSize: 40, numTokens: 30, maxBatchSize: 1024 };
  return { ...createBatch({ ...sizes, waitMs: 0, executionMs: 100 }), endedAtMs, ranAlone: true, ...change };
}

function runOf(...batches: readonly BatchView[]) {
  return encoderRunOf({ batches: new Map([['embedder', batches]]) }, 'embedder');
}

describe('a run of an encoder', () => {
  it('has its batches from the last pause on, with useful tokens and padding', () => {
    const run = runOf(batchAt(1000), batchAt(5000), batchAt(5100, { batchIndex: 1, queueLength: 2 }));
    expect(run.map(({ startedMs, endedMs }) => [startedMs, endedMs])).toEqual([
      [0, 100],
      [100, 200],
    ]);
    expect(run[0]).toMatchObject({ numTexts: 4, numUseful: 30, numPadding: 10 });
    expect(summarizeEncoderRun(run)).toMatchObject({
      durationMs: 200,
      textsPerSecond: 40,
      tokensPerSecond: 300,
      paddingShare: 0.25,
      executionMs: { p50: 100 },
    });
  });

  it('is not replaced by the lone texts of a search, but has texts that run one by one', () => {
    const alone = { batchSize: 1, measuredSize: 1, numTokens: 9 };
    const oneByOne = [
      batchAt(1000, { ...alone, queueLength: 2 }),
      batchAt(1100, { ...alone, queueLength: 1 }),
    ];
    const run = runOf(...oneByOne, batchAt(9000, { ...alone, queueLength: 0 }));
    expect(run).toHaveLength(2);
    // At a limit of 1 each text counts as a whole batch, whatever its length.
    expect(summarizeEncoderRun(run)).toMatchObject({ paddingShare: 0, durationMs: 200 });
  });

  it('is empty before the first batch', () => {
    expect([runOf(), summarizeEncoderRun(runOf())]).toEqual([[], undefined]);
  });
});
