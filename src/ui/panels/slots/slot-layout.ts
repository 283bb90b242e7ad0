import type { SlotBar } from '../../state/slot-history.ts';
import type { TimeSpan } from '../watch/time-span.ts';
import { xOf as xOnAxis, type Plot } from '../watch/shared-axis.ts';

/** A bar on the canvas, CSS pixels from its left edge. */
export interface PlacedBar {
  readonly bar: SlotBar;
  /** The start of its queue wait; `startX` where this span had none. */
  readonly waitX: number;
  readonly startX: number;
  /** The end of its prefill. */
  readonly decodeX: number;
  readonly endX: number;
  /** It goes on beyond what is drawn. */
  readonly isCut: boolean;
  /** It follows an earlier span of its sequence without a gap. */
  readonly isJoined: boolean;
}

/** The time that a canvas shows, in its plot. */
export interface TimeWindow extends Plot, Pick<TimeSpan, 'startMs' | 'endMs' | 'untilMs'> {}

/** So that every bar can be seen and clicked. */
const MIN_WIDTH = 2;

export function xOf(window: TimeWindow, atMs: number): number {
  return xOnAxis(atMs, window, window);
}

/** The bars that reach into the window, as far as it is drawn. */
export function placeBars(bars: Iterable<SlotBar>, window: TimeWindow): readonly PlacedBar[] {
  const placed: PlacedBar[] = [];
  /** The end of a moved sequence's last span: messages of two spans differ by some ms. */
  const movedX = new Map<string, number>();
  for (const bar of bars) {
    const { startedAtMs, endedAtMs = Infinity, spanIndex } = bar;
    if (startedAtMs > window.untilMs || endedAtMs < window.startMs) continue;
    const name = `${bar.requestId}#${bar.index}`;
    const joinedX = spanIndex > 0 ? movedX.get(name) : undefined;
    const startX = joinedX ?? xOf(window, startedAtMs);
    const isMoved = bar.end === 'moved';
    const lastX = Math.max(xOf(window, Math.min(endedAtMs, window.untilMs)), startX + MIN_WIDTH);
    // Two bars that meet within a pixel would leave a pale line there.
    const endX = isMoved ? Math.round(lastX) : lastX;
    if (isMoved) movedX.set(name, endX);
    const tokenX = xOf(window, Math.min(bar.firstTokenAtMs ?? Infinity, window.untilMs));
    placed.push({
      bar,
      waitX: spanIndex > 0 ? startX : xOf(window, startedAtMs - bar.queueWaitMs),
      startX,
      decodeX: spanIndex > 0 ? startX : Math.min(bar.firstTokenAtMs === undefined ? endX : tokenX, endX),
      endX,
      isCut: endedAtMs > window.untilMs,
      isJoined: joinedX !== undefined,
    });
  }
  return placed;
}

/** The bar under a point: the latest, where several overlap. */
export function barAt(placed: readonly PlacedBar[], x: number, lane: number): SlotBar | undefined {
  return placed.findLast(({ bar, startX, endX }) => bar.lane === lane && x >= startX && x <= endX)?.bar;
}

/** One for each slot of the policy, or more: sequences keep running in slots beyond a lowered maximum. */
export function numLanesOf(placed: readonly PlacedBar[], maxBatchSize: number): number {
  return placed.reduce((lanes, { bar }) => Math.max(lanes, bar.lane + 1), maxBatchSize);
}
