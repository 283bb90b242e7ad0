import { describe, expect, it } from 'vitest';
import { RequestCancelledError } from '../batching/base/errors.ts';
import type { RequestEvent, StepEvent } from '../batching/generation/events.ts';
import { FakeClock } from '../batching/testing/fake-clock.ts';
import type { KvSlot } from '../batching/generation/kv-slots.ts';
import { createGenerationMetrics } from '../batching/metrics/generation-metrics.ts';
import { MetricsRegistry } from '../batching/metrics/registry.ts';
import { createRequestId } from './ids.ts';
import type { TabserveStats } from './stats.ts';
import { StatsReporter } from './stats-reporter.ts';

const requestId = createRequestId();

// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- slots are made by the engine alone
const ROWS = [0, 1].map((slot) => ({ requestId, slot: slot as KvSlot }));

function createReporter(load: { numRunning: number; numWaiting: number } = { numRunning: 1, numWaiting: 2 }) {
  const clock = new FakeClock();
  const sent: TabserveStats[] = [];
  const metrics = createGenerationMetrics(new MetricsRegistry(), 'text-generator');
  const reporter = new StatsReporter(clock, metrics, {
    gauges: () => ({ ...load, kvCache: { usedBytes: 30, reservedBytes: 64 } }),
    send: (stats) => sent.push(stats),
  });
  const step = (stepIndex: number, requests: readonly RequestEvent[] = []): StepEvent => ({
    stepIndex,
    kind: 'decode',
    reason: 'idle',
    isBehind: false,
    batchSize: 2,
    numTokens: 2,
    numGuessedTokens: 0,
    numRightGuesses: 0,
    queueLength: 0,
    stepMs: 50,
    runMs: 10,
    readbackMs: 35,
    endedAtMs: clock.now(),
    rows: [],
    requests,
  });
  return { clock, sent, reporter, step };
}

const token = (itlMs: number): RequestEvent => ({ type: 'token', requestId, tokenId: 1, itlMs });

describe('StatsReporter', () => {
  it('collects steps and sends them once per 100 ms, with how long ago each ended', () => {
    const { clock, sent, reporter, step } = createReporter();
    reporter.recordStep(step(0));
    clock.advance(60);
    reporter.recordStep(step(1));
    clock.advance(40);
    expect(sent.map(({ steps }) => steps.map(({ stepIndex, agoMs }) => [stepIndex, agoMs]))).toEqual([
      [
        [0, 100],
        [1, 40],
      ],
    ]);
    expect(sent[0]?.steps[0]).not.toHaveProperty('requests');
    clock.advance(100);
    expect(sent).toHaveLength(1);
  });

  it('says of each step how long its newcomers waited, and whether all of it failed', () => {
    const { clock, sent, reporter, step } = createReporter();
    const began = (queueWaitMs: number): RequestEvent => ({
      type: 'started',
      requestId,
      queueWaitMs,
      numPrefillTokens: 3,
      numReusedTokens: 0,
    });
    const failed: RequestEvent = {
      type: 'failed',
      requestId,
      finishReason: 'error',
      error: new Error('run'),
    };
    reporter.recordStep({ ...step(0, [began(5), token(1), began(30), token(1)]), rows: ROWS });
    reporter.recordStep({ ...step(1, [failed, token(1)]), rows: ROWS });
    reporter.recordStep({ ...step(2, [failed, failed]), rows: ROWS });
    reporter.recordStep({ ...step(3, [failed]), rows: ROWS.slice(1) });
    clock.advance(100);
    expect(sent[0]?.steps.map(({ waitMs, outcome }) => [waitMs, outcome])).toEqual([
      [30, 'ok'],
      [0, 'ok'],
      [0, 'error'],
      [0, 'error'],
    ]);
  });

  it('sends the last step before an idle time at once, and still no more than one message in 100 ms', () => {
    const { clock, sent, reporter, step } = createReporter({ numRunning: 0, numWaiting: 0 });
    reporter.recordSubmitted(3, 1);
    clock.advance(20);
    reporter.recordStep(step(0));
    expect(sent.map(({ steps }) => steps.length)).toEqual([1]);
    clock.advance(20);
    reporter.recordStep(step(1));
    expect(sent).toHaveLength(1);
    clock.advance(100);
    expect(sent.map(({ steps }) => steps.length)).toEqual([1, 1]);
    expect(clock.pendingTimers).toBe(0);
  });

  it('counts what was measured elsewhere without a step to show', () => {
    const { clock, sent, reporter } = createReporter();
    const timings = { queueWaitMs: 5, ttftMs: 20, e2eMs: 70, tpotMs: 50 };
    reporter.recordMeasured(
      [{ type: 'started', queueWaitMs: 5, numPrefillTokens: 0, numReusedTokens: 0 }],
      5,
    );
    reporter.recordMeasured([{ type: 'token', ttftMs: 20 }], 15);
    reporter.recordMeasured([{ type: 'token', itlMs: 50 }], 50);
    reporter.recordMeasured([{ type: 'finished', finishReason: 'stop', timings }], 0);
    reporter.recordMeasured([{ type: 'failed', finishReason: 'abort' }], 30);
    clock.advance(100);
    expect(sent[0]).toMatchObject({
      steps: [],
      slotSpans: [],
      tokensPerSecond: 20,
      ttftMs: { count: 1, p50: 20 },
      itlMs: { count: 1, p50: 50 },
      e2eMs: { count: 1, p50: 70 },
      finishReasons: { stop: 1, abort: 1 },
      totals: { finished: 1, cancelled: 1, outputTokens: 2 },
    });
  });

  it('is silent, with no timer, while nothing happens', () => {
    const { clock, sent, reporter, step } = createReporter();
    expect(clock.pendingTimers).toBe(0);
    reporter.recordStep(step(0));
    clock.advance(1000);
    expect(sent).toHaveLength(1);
    expect(clock.pendingTimers).toBe(0);
  });

  it('sends the gauges that a changed policy leaves, also while nothing runs', () => {
    const { clock, sent, reporter } = createReporter({ numRunning: 0, numWaiting: 0 });
    reporter.recordGauges();
    clock.advance(100);
    expect(sent).toMatchObject([{ steps: [], kvCache: { reservedBytes: 64 } }]);
    expect(clock.pendingTimers).toBe(0);
  });

  it('says that the token rate is 0 once nothing has run for two seconds, then falls silent', () => {
    const load = { numRunning: 1, numWaiting: 0 };
    const { clock, sent, reporter, step } = createReporter(load);
    reporter.recordStep(step(0, [token(10)]));
    clock.advance(5000);
    expect(sent.map(({ tokensPerSecond }) => tokensPerSecond)).toEqual([20]);
    load.numRunning = 0;
    reporter.recordStep(step(1, [token(10)]));
    clock.advance(1999);
    expect(sent.map(({ tokensPerSecond }) => tokensPerSecond)).toEqual([20, 20]);
    clock.advance(1);
    expect(sent.map(({ tokensPerSecond }) => tokensPerSecond)).toEqual([20, 20, 0]);
    expect(sent.at(-1)?.steps).toEqual([]);
    clock.advance(10_000);
    expect(sent).toHaveLength(3);
    expect(clock.pendingTimers).toBe(0);
  });

  it('keeps the token rate where work goes on within two seconds', () => {
    const { clock, sent, reporter, step } = createReporter({ numRunning: 0, numWaiting: 0 });
    reporter.recordStep(step(0, [token(10)]));
    clock.advance(1500);
    reporter.recordStep(step(1, [token(10)]));
    clock.advance(1500);
    expect(sent.map(({ tokensPerSecond }) => tokensPerSecond)).toEqual([20, 20]);
  });

  it('sums up latencies, token rate and totals', () => {
    const { clock, sent, reporter, step } = createReporter();
    reporter.recordSubmitted(7, 1);
    reporter.recordRejected('BACK_PRESSURE');
    const timings = { queueWaitMs: 5, ttftMs: 20, e2eMs: 90, tpotMs: 10 };
    reporter.recordStep(
      step(0, [
        { type: 'started', requestId, queueWaitMs: 5, numPrefillTokens: 7, numReusedTokens: 6 },
        { type: 'token', requestId, tokenId: 1, ttftMs: 20 },
        token(10),
        token(30),
        {
          type: 'finished',
          requestId,
          finishReason: 'stop',
          tokenIds: [1, 1, 1],
          numPromptTokens: 7,
          numOutputTokens: 4,
          timings,
        },
      ]),
    );
    reporter.recordEnded([
      { type: 'failed', requestId, finishReason: 'abort', error: RequestCancelledError.because(undefined) },
      { type: 'failed', requestId, finishReason: 'error', error: new Error('run') },
    ]);
    clock.advance(100);
    expect(sent[0]).toMatchObject({
      numRunning: 1,
      numWaiting: 2,
      kvCache: { usedBytes: 30, reservedBytes: 64 },
      tokensPerSecond: 60,
      ttftMs: { count: 1, p50: 20, p95: 20, p99: 20 },
      itlMs: { count: 2, p50: 10, p95: 30, p99: 30 },
      queueWaitMs: { count: 1, p50: 5 },
      e2eMs: { count: 1, p50: 90 },
      totals: {
        submitted: 1,
        finished: 1,
        cancelled: 1,
        failed: 1,
        rejected: 1,
        promptTokens: 7,
        outputTokens: 3,
        prefixCacheQueries: 7,
        prefixCacheHits: 6,
      },
    });
  });
});
