import type { SlotBar } from '../state/slot-history.ts';

/** A bar on the canvas, CSS pixels from its left edge. */
export interface PlacedBar {
  readonly bar: SlotBar;
  /** The start of its queue wait; `startX` where this stay had none. */
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

/** So that every bar can be seen and clicked. */
const MIN_WIDTH = 2;

/** The bars that reach into the window. A lasting one ends at the window's edge. */
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

/** The bar under a point: the latest, where several overlap. */
export function barAt(placed: readonly PlacedBar[], x: number, slot: number): SlotBar | undefined {
  return placed.findLast(({ bar, startX, endX }) => bar.slot === slot && x >= startX && x <= endX)?.bar;
}

/** The policy's number of slots, or more: sequences keep running in slots beyond a lowered maximum. */
export function numLanes(placed: readonly PlacedBar[], maxBatchSize: number): number {
  return placed.reduce((lanes, { bar }) => Math.max(lanes, bar.slot + 1), maxBatchSize);
}
