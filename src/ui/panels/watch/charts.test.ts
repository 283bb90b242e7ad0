import { describe, expect, it, vi } from 'vitest';

import { createServeStore, recordedView } from '../../state/serve-store.ts';
import { createStats, createStatus, NO_TOTALS } from '../../testing/test-support.ts';
import type { TimeSpan } from './time-span.ts';
import { endingAtOrAfter, latestBefore, type ChartColumns } from './chart-spec.ts';
import { formatSeconds } from './slot-axis.ts';
import { TIME_CHARTS } from './time-charts.ts';

// A theme needs a page.
vi.mock(import('../../drawing/resolved-color.ts'), () => ({ resolvedColor: (name) => name }));

const STATS = createStats({
  kvCache: { usedBytes: 2 ** 19, reservedBytes: 2 ** 22 },
  ttftMs: { count: 1, p50: 40, p95: 60, p99: 70 },
  finishReasons: { stop: 1, length: 2, abort: 3, error: 4 },
  totals: { ...NO_TOTALS, rejected: 5 },
});

const SPAN: TimeSpan = { startMs: 0, endMs: 10_000, untilMs: 10_000, originMs: 0, isLive: false };

function readChart(name: string, receivedAtMs: readonly number[] = [1000], span: Partial<TimeSpan> = {}) {
  const store = createServeStore(createStatus());
  for (const atMs of receivedAtMs) {
    const message = { stats: STATS, sentAtMs: atMs, maxBatchSize: 8 };
    store.history.sample(message, () => STATS);
  }
  const chart = TIME_CHARTS.find(({ head }) => head.testId === name);
  return chart?.read(recordedView(store), { ...SPAN, ...span });
}

describe('charts over time', () => {
  it('show the percentiles of a latency, and a gap where there is none', () => {
    expect(readChart('ttft-chart')).toEqual([[1], [40], [60], [70]]);
    expect(readChart('itl-chart')).toEqual([[1], [null], [null], [null]]);
  });

  it('break over idle time', () => {
    expect(readChart('ttft-chart', [0, 9000])?.slice(0, 2)).toEqual([
      [0, 0.001, 9],
      [40, null, 40],
    ]);
  });

  it('show the K/V memory in MiB', () => {
    expect(readChart('kv-cache-chart')).toEqual([[1], [0.5], [4]]);
  });

  it('count how sequences ended', () => {
    expect(readChart('finish-chart')).toEqual([[1], [1], [2], [3], [4], [5]]);
  });

  it.each([
    { name: 'before the axis', span: { startMs: 1001 }, seconds: [2, 3] },
    { name: 'later than a replay', span: { untilMs: 2999 }, seconds: [1, 2] },
    { name: 'at its edges', span: { startMs: 1000, untilMs: 3000 }, seconds: [1, 2, 3] },
  ])('read the rows inside the axis: $name', ({ span, seconds }) => {
    expect(readChart('utilization-chart', [1000, 2000, 3000], span)?.[0]).toEqual(seconds);
  });

  it('count seconds from the start of the run', () => {
    expect(readChart('utilization-chart', [1000, 3000], { originMs: 800 })?.[0]).toEqual([0.2, 2.2]);
  });
});

describe('the value at a moment', () => {
  const columns: ChartColumns = [
    [1, 2, 3, 4],
    [10, undefined, 30, null],
  ];

  it.each([
    [undefined, 30],
    [0.5, 10],
    [1.5, 30],
    [3.5, null],
    [5, null],
  ])('of steps, which last up to their end, at %s s: %s', (x, value) => {
    expect(endingAtOrAfter(columns, 0, x)).toBe(value);
  });

  it.each([
    [undefined, 30],
    [0.5, null],
    [2.5, 10],
    [3.5, 30],
    [4.5, null],
  ])('of samples, which hold until the next one, at %s s: %s', (x, value) => {
    expect(latestBefore(columns, 0, x)).toBe(value);
  });
});

it.each([
  [0, '0 s'],
  [0.2, '0.2 s'],
  [12, '12 s'],
  [59.999, '1:00'],
  [65, '1:05'],
  [305.5, '5:05.5'],
])('labels of the time axis tell %s s as %s', (seconds, label) => {
  expect(formatSeconds(seconds)).toBe(label);
});
