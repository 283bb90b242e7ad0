import type { SlotBar } from '../state/slot-history.ts';

/** A bar on the canvas, CSS pixels from its left edge. */
export interface PlacedBar {
  readonly bar: SlotBar;
  /** The beginning of its queue wait; equal to `startX` where it did not wait, or waited for another stay. */
  readonly waitX: number;
  readonly startX: number;
  /** The end of its prefill. */
  readonly decodeX: number;
  readonly endX: number;
}

export interface TimeWindow {
  readonly endMs: number;
  readonly durationMs: number;
  readonly width: number;
}

/** A shorter one could not be seen, or hit. */
const MIN_WIDTH = 2;

/** The bars that reach into the window, in the order of their beginning. What lasts ends where the window does. */
export function placeBars(bars: Iterable<SlotBar>, window: TimeWindow): readonly PlacedBar[] {
  const { endMs, durationMs, width } = window;
  const xOf = (atMs: number): number => width - ((endMs - atMs) / durationMs) * width;
  const placed: PlacedBar[] = [];
  for (const bar of bars) {
    const startX = xOf(bar.startedAtMs);
    const endX = Math.max(bar.endedAtMs === undefined ? width : xOf(bar.endedAtMs), startX + MIN_WIDTH);
    if (endX < 0 || startX > width) continue;
    const firstTokenX = bar.firstTokenAtMs === undefined ? endX : xOf(bar.firstTokenAtMs);
    const decodeX = bar.stayIndex > 0 ? startX : Math.min(firstTokenX, endX);
    const waitX = bar.stayIndex > 0 ? startX : xOf(bar.startedAtMs - bar.queueWaitMs);
    placed.push({ bar, waitX, startX, decodeX, endX });
  }
  return placed;
}

/** The bar under a point; of two that share it, the later one. */
export function barAt(placed: readonly PlacedBar[], x: number, slot: number): SlotBar | undefined {
  return placed.findLast(({ bar, startX, endX }) => bar.slot === slot && x >= startX && x <= endX)?.bar;
}

/** As many as there is policy for, and any beyond it that is in view: a lowered maximum leaves those that run alone. */
export function numLanes(placed: readonly PlacedBar[], maxBatchSize: number): number {
  return placed.reduce((lanes, { bar }) => Math.max(lanes, bar.slot + 1), maxBatchSize);
}
