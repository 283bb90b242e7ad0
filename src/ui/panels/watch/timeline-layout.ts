import type { BatchView } from '../../state/batch-view.ts';

/** One batch on the axis, in ms since the start of its busy span. */
export interface TimelineRow {
  readonly batch: BatchView;
  /** The oldest member's arrival. */
  readonly arrivedMs: number;
  /** The end of the wait, and the start of the execution. */
  readonly cutMs: number;
  readonly endedMs: number;
}

/** Batches without a long pause between them, in the order of their index. Each busy span starts at 0, so that they compare. */
type BusySpan = readonly TimelineRow[];

export interface TimelineLayout {
  readonly busySpans: readonly BusySpan[];
  /** The time of the longest busy span. */
  readonly durationMs: number;
}

/** A pause this long separates two busy spans. */
const PAUSE_MS = 500;

interface Interval {
  readonly batch: BatchView;
  readonly arrivedAtMs: number;
  readonly endedAtMs: number;
}

export function layoutTimeline(batches: readonly BatchView[]): TimelineLayout {
  const groups: Interval[][] = [];
  let lastEndedAtMs = -Infinity;
  for (const interval of placeBatches(batches).toSorted((a, b) => a.arrivedAtMs - b.arrivedAtMs)) {
    if (interval.arrivedAtMs - lastEndedAtMs >= PAUSE_MS) groups.push([]);
    groups.at(-1)?.push(interval);
    lastEndedAtMs = Math.max(lastEndedAtMs, interval.endedAtMs);
  }
  const busySpans = groups.map(createBusySpan);
  return { busySpans, durationMs: Math.max(0, ...busySpans.flat().map(({ endedMs }) => endedMs)) };
}

/** Round numbers from 0 up to `durationMs`, at most `maxTicks` after the 0. */
export function axisTicks(durationMs: number, maxTicks: number): readonly number[] {
  const roughStep = Math.max(durationMs, 1) / Math.max(1, maxTicks);
  const power = 10 ** Math.floor(Math.log10(roughStep));
  const step = ([1, 2, 5].find((factor) => factor * power >= roughStep) ?? 10) * power;
  return Array.from({ length: Math.floor(durationMs / step) + 1 }, (_, index) =>
    Number((index * step).toFixed(6)),
  );
}

/**
 * Records arrive late in a busy tab, never early. Of batches that ran alone, each ended before the next was cut: a late record's
 * batch moves back until that holds.
 */
function placeBatches(batches: readonly BatchView[]): readonly Interval[] {
  const intervals: Interval[] = [];
  let next: Interval | undefined;
  for (const batch of batches.toReversed()) {
    const spanMs = batch.waitMs + batch.executionMs;
    let { endedAtMs } = batch;
    if (next && batch.ranAlone && next.batch.ranAlone) {
      endedAtMs = Math.min(endedAtMs, next.arrivedAtMs + next.batch.waitMs, next.arrivedAtMs + spanMs);
    }
    next = { batch, arrivedAtMs: endedAtMs - spanMs, endedAtMs };
    intervals.push(next);
  }
  return intervals;
}

function createBusySpan(members: readonly Interval[]): BusySpan {
  const startedAtMs = members[0]?.arrivedAtMs ?? 0;
  const rows = members.map(({ batch, arrivedAtMs }) => {
    const arrivedMs = arrivedAtMs - startedAtMs;
    const cutMs = arrivedMs + batch.waitMs;
    return { batch, arrivedMs, cutMs, endedMs: cutMs + batch.executionMs };
  });
  return rows.toSorted((left, right) => left.batch.batchIndex - right.batch.batchIndex);
}
