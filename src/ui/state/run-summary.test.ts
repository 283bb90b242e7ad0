import { describe, expect, it } from 'vitest';

import {
  createReport,
  createRequest,
  createSlotSpan,
  createStatus,
  createStepRecord,
  idOf,
} from '../testing/test-support.ts';
import { ChartHistory } from './chart-history.ts';
import { prefillStall, stepsBetween, summarizeRun, tokenGaps, type TokenGap } from './run-summary.ts';
import type { TracedStep } from './slot-history.ts';

function step(kind: TracedStep['kind'], endedAtMs: number, stepMs: number, batchSize = 1): TracedStep {
  return { ...createStepRecord({ kind, stepMs, batchSize }), endedAtMs, serialIndex: endedAtMs };
}

it('the gaps between tokens span from one decode step to the next, with the prefill between them', () => {
  const steps = [
    step('prefill', 10, 10),
    step('decode', 15, 5, 2),
    step('decode', 21, 6, 2),
    step('prefill', 29, 8),
    step('decode', 33, 4, 3),
  ];
  expect(tokenGaps(steps)).toEqual([
    { endedAtMs: 21, gapMs: 6, numSequences: 2, prefillMs: 0, numPrefillTokens: 0 },
    { endedAtMs: 33, gapMs: 12, numSequences: 3, prefillMs: 8, numPrefillTokens: 1 },
  ]);
});

function gap(prefillMs: number, numPrefillTokens: number): TokenGap {
  return { endedAtMs: 0, gapMs: prefillMs + 10, numSequences: 1, prefillMs, numPrefillTokens };
}

describe('the stall that pieces of prompts prevent', () => {
  it('is the pause of all pieces in one step, beside the longest pause that there was', () => {
    const gaps = [gap(0, 0), gap(40, 16), gap(60, 16), gap(50, 16), gap(0, 0), gap(20, 8), gap(20, 8)];
    expect(prefillStall(gaps, 256)).toEqual({ gapMs: 70, unsplitMs: 160 });
  });

  it('is that of as many tokens as one step takes', () => {
    expect(prefillStall([gap(40, 16), gap(60, 16)], 16)).toEqual({ gapMs: 70, unsplitMs: 60 });
  });

  it('is none where prompts were read whole', () => {
    expect(prefillStall([gap(0, 0), gap(90, 64), gap(0, 0), gap(90, 64)], 256)).toBeUndefined();
  });
});

it('the steps of a time are those that ended in it', () => {
  const steps = [10, 20, 30, 40].map((atMs) => step('decode', atMs, 5));
  expect(stepsBetween(steps, 20, 30).map(({ endedAtMs }) => endedAtMs)).toEqual([20, 30]);
  expect(stepsBetween(steps, 41, 50)).toEqual([]);
});

describe('the summary of a run', () => {
  const status = createStatus();

  it('counts its requests and tokens, and measures peak, rate and latencies', () => {
    const history = new ChartHistory();
    const stats = {
      steps: [
        createStepRecord({ kind: 'prefill', batchSize: 2, stepMs: 20, agoMs: 80 }),
        createStepRecord({ stepIndex: 1, batchSize: 2, stepMs: 10, agoMs: 60 }),
        createStepRecord({ stepIndex: 2, batchSize: 2, stepMs: 10, agoMs: 50 }),
        createStepRecord({
          stepIndex: 3,
          batchSize: 1,
          stepMs: 30,
          agoMs: 20,
          numGuessedTokens: 4,
          numRightGuesses: 2,
        }),
      ],
      slotSpans: [
        createSlotSpan({ requestId: idOf('a'), startedAgoMs: 100, firstTokenAgoMs: 80, queueWaitMs: 4 }),
        createSlotSpan({
          requestId: idOf('b'),
          slot: 1,
          startedAgoMs: 100,
          firstTokenAgoMs: 60,
          queueWaitMs: 2,
        }),
        createSlotSpan({ requestId: idOf('other'), slot: 2, startedAgoMs: 100, firstTokenAgoMs: 1 }),
      ],
    };
    history.slots.record(...createReport(stats, 1100));
    const requests = new Map(
      [createRequest('a', { numOutputTokens: 3 }), createRequest('b', { numOutputTokens: 2 })].map(
        (request) => [request.id, request] as const,
      ),
    );
    const run = {
      startedAtMs: 996,
      endedAtMs: 1096,
      requestIds: [idOf('a'), idOf('b')],
    };
    expect(summarizeRun(run, { requests, history, status })).toEqual({
      numRequests: 2,
      elapsedMs: 100,
      peakBatchSize: 2,
      tokensPerSecond: 50,
      ttftMs: { p50: 24, p95: 42, p99: 42 },
      // Two sequences waited for 10 ms, one for 30.
      itlMs: { p50: 10, p95: 30, p99: 30 },
      queueWaitMs: { p50: 2, p95: 4, p99: 4 },
      e2eMs: undefined,
      stall: undefined,
      guesses: { numGuessed: 4, numRight: 2, tokensPerStep: 7 / 5 },
    });
  });

  it('of a server has no peak and takes the latencies of the requests', () => {
    const requests = new Map([[idOf('a'), createRequest('a', { ttftMs: 7 })]]);
    const run = { startedAtMs: 0, endedAtMs: 10, requestIds: [idOf('a')] };
    const { peakBatchSize, ttftMs, itlMs } = summarizeRun(run, {
      requests,
      history: new ChartHistory(),
      status,
    });
    expect([peakBatchSize, ttftMs, itlMs]).toEqual([undefined, { p50: 7, p95: 7, p99: 7 }, undefined]);
  });
});
