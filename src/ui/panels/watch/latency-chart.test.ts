import { describe, expect, it, vi } from 'vitest';

import { toColumns } from './latency-chart.ts';
import { joinTimes } from './highlighted-time.ts';

// A theme needs a page.
vi.mock(import('../../drawing/resolved-color.ts'), () => ({ resolvedColor: (name) => name }));

const SPAN = { startMs: 1000, endMs: 2000, originMs: 1000 };

function createGap(endedAtMs: number, gapMs: number) {
  return { endedAtMs, gapMs, numSequences: 1, prefillMs: 0, numPrefillTokens: 0 };
}

describe('the latency chart', () => {
  it('has a row for each token gap and each first token, in the order of time', () => {
    const gaps = [createGap(1100, 10), createGap(1120, 20)];
    const firstTokens = [{ endedAtMs: 1110, ttftMs: 90 }];
    expect(toColumns(gaps, firstTokens, SPAN)).toEqual([
      [0.1, 0.11, 0.12],
      [10, undefined, 20],
      [undefined, 90, undefined],
    ]);
  });

  it('breaks its line over idle time alone, not where the messages disagree a little', () => {
    const gaps = [createGap(1100, 10), createGap(1150, 10), createGap(1500, 10)];
    expect(toColumns(gaps, [], SPAN).slice(0, 2)).toEqual([
      [0.1, 0.15, 0.15, 0.5],
      [10, 10, null, 10],
    ]);
  });

  it('has at most two values of a line for each pixel, and keeps the slowest', () => {
    const gaps = Array.from({ length: 5000 }, (_, index) =>
      createGap(1000 + index / 5, index === 3210 ? 99 : 2),
    );
    const [xs, values] = toColumns(gaps, [], SPAN, 100);
    expect(xs.length).toBeLessThanOrEqual(202);
    expect(values).toContain(99);
  });
});

it('the time of highlighted requests is one where they overlap, and ends with what is drawn', () => {
  const bars = [
    { startedAtMs: 500, endedAtMs: 900 },
    { startedAtMs: 0, endedAtMs: 100 },
    { startedAtMs: 50, endedAtMs: 200 },
    { startedAtMs: 600 },
    { startedAtMs: 1200, endedAtMs: 1300 },
  ];
  expect(joinTimes(bars, 1000)).toEqual([
    [0, 200],
    [500, 1000],
  ]);
});
