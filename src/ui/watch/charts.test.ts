import { describe, expect, it, vi } from 'vitest';

import type { ServeStats } from '../../worker/protocol/stats.ts';
import { ChartHistory } from '../state/chart-history.ts';
import { createServeStore } from '../state/serve-store.ts';
import { createStatus } from '../test-support.ts';
import { TIME_CHARTS } from './time-charts.ts';

// A theme needs a page.
vi.mock(import('../theme/resolved-color.ts'), () => ({ resolvedColor: (name) => name }));

const NO_LATENCY = { count: 0, p50: 0, p95: 0, p99: 0 };
const STATS: ServeStats = {
  steps: [],
  slotStays: [],
  numRunning: 1,
  numWaiting: 0,
  kvCache: { usedBytes: 2 ** 19, reservedBytes: 2 ** 22 },
  tokensPerSecond: 0,
  ttftMs: { count: 1, p50: 40, p95: 60, p99: 70 },
  itlMs: NO_LATENCY,
  queueWaitMs: NO_LATENCY,
  e2eMs: NO_LATENCY,
  finishReasons: { stop: 1, length: 2, abort: 3, error: 4 },
  totals: {
    submitted: 0,
    finished: 0,
    cancelled: 0,
    failed: 0,
    rejected: 5,
    promptTokens: 0,
    outputTokens: 0,
    prefixCacheQueries: 0,
    prefixCacheHits: 0,
  },
};

function readChart(name: string, receivedAtMs: readonly number[] = [1000], untilSeconds?: number) {
  const history = new ChartHistory();
  for (const atMs of receivedAtMs) history.record(STATS, atMs, 8);
  const chart = TIME_CHARTS.find(({ testId }) => testId === name);
  return chart?.read(createServeStore(createStatus(), history).getState(), untilSeconds);
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

  it('tell the K/V memory in MiB', () => {
    expect(readChart('kv-cache-chart')).toEqual([[1], [0.5], [4]]);
  });

  it('count how sequences ended', () => {
    expect(readChart('finish-chart')).toEqual([[1], [1], [2], [3], [4], [5]]);
  });

  it.each([
    { untilSeconds: 1.9, seconds: [1] },
    { untilSeconds: 2, seconds: [1, 2] },
    { untilSeconds: 0.9, seconds: [] },
  ])('end with the last row that is no later: $untilSeconds s', ({ untilSeconds, seconds }) => {
    expect(readChart('utilization-chart', [1000, 2000, 3000], untilSeconds)?.[0]).toEqual(seconds);
  });
});
