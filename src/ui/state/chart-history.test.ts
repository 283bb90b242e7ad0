import { describe, expect, it } from 'vitest';

import type { StepRecord, TabserveStats } from '../../client/index.ts';
import { createStats, createStepRecord, NO_TOTALS } from '../testing/test-support.ts';
import { ChartHistory, type Cell, type SampleFigures } from './chart-history.ts';

function createStep(kind: StepRecord['kind'], batchSize: number, stepMs: number, stepIndex = 0): StepRecord {
  return createStepRecord({ kind, batchSize, stepMs, stepIndex });
}

const tokensOut = (figures: SampleFigures): Cell => figures.tokensOutPerSecond;

function valuesOf({ samples }: ChartHistory, read: (figures: SampleFigures) => Cell): Cell[] {
  return samples.map(({ figures }) => (figures ? read(figures) : null));
}

/** A message that is read at once. */
function record(history: ChartHistory, stats: TabserveStats, atMs: number, maxBatchSize = 8): void {
  history.slots.record({ ...stats, sentAtMs: atMs }, atMs);
  history.sample({ stats, sentAtMs: atMs, maxBatchSize }, () => stats);
}

it('steps go on counting where another engine begins at 0 again', () => {
  const history = new ChartHistory();
  for (const indices of [
    [7, 8],
    [0, 1],
    [2, 0, 1],
  ]) {
    const steps = indices.map((index) => createStep('decode', 1, 10, index));
    record(history, createStats({ steps }), 0);
  }
  expect(history.slots.steps.map(({ serialIndex }) => serialIndex)).toEqual([7, 8, 9, 10, 11, 12, 13]);
});

describe('samples', () => {
  it('are taken at intervals, and lines break over idle time', () => {
    const history = new ChartHistory();
    const stats = createStats({ ttftMs: { count: 1, p50: 40, p95: 60, p99: 70 } });
    record(history, createStats(), 0);
    for (const receivedAtMs of [1000, 1100, 1200, 9000]) record(history, stats, receivedAtMs);
    expect(history.samples.map(({ atMs }) => atMs)).toEqual([0, 1000, 1200, 1201, 9000]);
    expect(valuesOf(history, ({ ttftMs }) => ttftMs?.p50 ?? null)).toEqual([0, 40, 40, null, 40]);
  });

  it('have the tokens per second since the sample before, and none after idle time or from one worker to the next', () => {
    const history = new ChartHistory();
    const at = (receivedAtMs: number, promptTokens: number, outputTokens: number): void =>
      record(
        history,
        createStats({
          totals: { ...NO_TOTALS, promptTokens, outputTokens, prefixCacheQueries: 0, prefixCacheHits: 0 },
        }),
        receivedAtMs,
      );
    at(0, 10, 0);
    at(500, 20, 100);
    at(600, 25, 130);
    at(1000, 30, 150);
    at(9000, 40, 250);
    // Another worker.
    at(10_000, 10, 50);
    at(10_500, 10, 100);
    expect(valuesOf(history, (figures) => figures.tokensInPerSecond)).toEqual([
      null,
      20,
      20,
      null,
      null,
      null,
      0,
    ]);
    expect(valuesOf(history, tokensOut)).toEqual([null, 200, 100, null, null, null, 100]);
  });

  it('have the last message of a busy span, however soon it comes', () => {
    const history = new ChartHistory();
    const at = (receivedAtMs: number, numRunning: number, outputTokens: number): void =>
      record(
        history,
        createStats({ numRunning, tokensPerSecond: 70, totals: { ...NO_TOTALS, outputTokens } }),
        receivedAtMs,
      );
    at(0, 1, 0);
    at(1000, 1, 100);
    at(1100, 1, 110);
    at(1190, 0, 119);
    expect(history.samples.map(({ atMs }) => atMs)).toEqual([0, 1000, 1190]);
    expect(valuesOf(history, tokensOut)).toEqual([null, 100, 100]);
    // Held up, and delivered at once with the one before it.
    at(1191, 0, 129);
    expect(valuesOf(history, tokensOut).at(-1)).toBeNull();
  });

  it('have the worker’s own rate where they have nothing to count from, once there was a step', () => {
    const history = new ChartHistory();
    const tokensPerSecond = 150;
    record(history, createStats({ tokensPerSecond }), 0);
    record(history, createStats({ tokensPerSecond, steps: [createStep('decode', 4, 20)] }), 9000);
    expect(valuesOf(history, tokensOut)).toEqual([null, null, 150]);
  });

  it('say how full decode steps were, each weighed by its time, and no fuller than full', () => {
    const history = new ChartHistory();
    const steps = [createStep('decode', 4, 30), createStep('decode', 2, 10), createStep('prefill', 1, 1000)];
    record(history, createStats({ steps }), 0, 4);
    record(history, createStats({ steps: [createStep('decode', 8, 10)] }), 1000, 4);
    record(history, createStats(), 2000, 4);
    expect(valuesOf(history, ({ utilization }) => utilization)).toEqual([87.5, 100, null]);
  });

  it('are as many as the longest window holds', () => {
    const history = new ChartHistory();
    for (let message = 0; message < 1600; message += 1) record(history, createStats(), message * 200);
    expect(history.samples).toHaveLength(1500);
    expect(history.samples[0]?.atMs).toBe(100 * 200);
  });
});
