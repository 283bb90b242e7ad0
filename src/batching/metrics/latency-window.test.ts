import { describe, expect, it } from 'vitest';
import { LatencyWindow, percentilesOf } from './latency-window.ts';

function createWindow(samples: readonly number[]): LatencyWindow {
  const window = new LatencyWindow();
  for (const sample of samples) window.record(sample);
  return window;
}

const upTo = (last: number): number[] => Array.from({ length: last }, (_, index) => index + 1);

it('has no percentiles of no samples', () => {
  expect(percentilesOf([])).toBeUndefined();
});

describe('LatencyWindow', () => {
  it('is all zero while there is no sample', () => {
    expect(createWindow([]).summary).toEqual({ count: 0, p50: 0, p95: 0, p99: 0 });
  });

  it('is the sample where there is one', () => {
    expect(createWindow([12.5]).summary).toEqual({ count: 1, p50: 12.5, p95: 12.5, p99: 12.5 });
  });

  it('takes percentiles by nearest rank, whatever the order of arrival', () => {
    expect(createWindow(upTo(100).toReversed()).summary).toEqual({ count: 100, p50: 50, p95: 95, p99: 99 });
    expect(createWindow([40, 10, 30, 20]).summary).toEqual({ count: 4, p50: 20, p95: 40, p99: 40 });
  });

  it('forgets all but the last 512 samples', () => {
    const window = createWindow([...upTo(100).map(() => 1e6), ...upTo(512)]);
    expect(window.summary).toEqual({ count: 512, p50: 256, p95: 487, p99: 507 });
  });

  it('can be read and then written again', () => {
    const window = createWindow([3, 1, 2]);
    expect(window.summary.p50).toBe(2);
    window.record(0);
    expect(window.summary).toEqual({ count: 4, p50: 1, p95: 3, p99: 3 });
  });
});
