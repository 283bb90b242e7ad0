import { describe, expect, it } from 'vitest';

import type { BatchView } from '../../state/batch-view.ts';
import { createBatch } from '../../testing/test-support.ts';
import { axisTicks, layoutTimeline } from './timeline-layout.ts';

/** Takes [endedAtMs, waitMs, executionMs]; indices count up. */
function createBatches(...places: readonly (readonly [number, number, number])[]): BatchView[] {
  return places.map(([endedAtMs, waitMs, executionMs], batchIndex) => ({
    ...createBatch({ batchIndex, waitMs, executionMs }),
    ranAlone: true,
    endedAtMs,
  }));
}

function sideBySide(batches: readonly BatchView[]): BatchView[] {
  return batches.map((batch) => ({ ...batch, ranAlone: false }));
}

/** By busy span and row: arrived, cut, ended. */
function placesOf(batches: readonly BatchView[]): string[][] {
  return layoutTimeline(batches).busySpans.map((rows) =>
    rows.map(({ arrivedMs, cutMs, endedMs }) => `${arrivedMs} ${cutMs} ${endedMs}`),
  );
}

describe('layoutTimeline', () => {
  it('places each batch by its end, its execution before that and its wait before both', () => {
    // Nine calls in one tick against a slot that is busy for 200 ms.
    const batches = createBatches([1200, 0, 200], [1400, 200, 200], [1600, 400, 200]);
    expect(placesOf(batches)).toEqual([['0 0 200', '0 200 400', '0 400 600']]);
    expect(layoutTimeline(batches).durationMs).toBe(600);
  });

  it('starts the axis anew after a pause of half a second', () => {
    const batches = createBatches([1200, 0, 200], [1899, 0, 200], [2900, 50, 200]);
    expect(placesOf(batches)).toEqual([['0 0 200', '699 699 899'], ['0 50 250']]);
    expect(layoutTimeline(batches).durationMs).toBe(899);
  });

  it('moves back what a late record puts in the way of the next batch', () => {
    // The tab was busy for 90 ms: the first two records came with the third.
    const batches = createBatches([290, 0, 100], [290, 100, 100], [300, 200, 100]);
    expect(placesOf(batches)).toEqual([['0 0 100', '0 100 200', '0 200 300']]);
  });

  it('lets the oldest request of a batch arrive no later than that of the next', () => {
    // Two full batches whose records waited 30 ms in a busy tab, then a partial one that waited out its timeout.
    const batches = createBatches([32, 0, 1], [32, 1, 1], [101, 100, 1]);
    expect(placesOf(batches)).toEqual([['0 0 1', '0 1 2', '0 100 101']]);
  });

  it('leaves batches that ran side by side where their records put them', () => {
    const batches = createBatches([250, 0, 250], [300, 50, 100]);
    expect(placesOf(sideBySide(batches))).toEqual([['0 0 250', '150 200 300']]);
  });

  it('knows a pause from a time in which a longer batch still ran', () => {
    const batches = createBatches([100, 0, 100], [2100, 0, 100], [5000, 0, 5000]);
    expect(placesOf(sideBySide(batches))).toEqual([['0 0 100', '2000 2000 2100', '0 0 5000']]);
  });

  it('has nothing to show before the first batch', () => {
    expect(layoutTimeline([])).toEqual({ busySpans: [], durationMs: 0 });
  });
});

it.each([
  [600, 6, [0, 100, 200, 300, 400, 500, 600]],
  [600, 3, [0, 200, 400, 600]],
  [437, 5, [0, 100, 200, 300, 400]],
  [2.3, 5, [0, 0.5, 1, 1.5, 2]],
  [0, 5, [0]],
  [700, 0.4, [0]],
])('axisTicks are round numbers within %d ms, %d at most after the 0', (durationMs, maxTicks, ticks) => {
  expect(axisTicks(durationMs, maxTicks)).toEqual(ticks);
});
