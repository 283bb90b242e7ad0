import type { TracedStep } from '../../state/slot-history.ts';
import type { TimeSpan } from './time-span.ts';
import { groupByPixel } from './merge-rows.ts';

/** A bar of the batch-size chart: one step, or several that share a pixel. */
export interface StepRow {
  readonly startedAtMs: number;
  readonly endedAtMs: number;
  /** The largest batch of each kind; `null` where there was none. */
  readonly decode: number | null;
  readonly prefill: number | null;
  readonly numWaiting: number;
}

/** A row for each step; where they are more than the pixels, one for each pixel. */
export function toStepRows(
  steps: readonly TracedStep[],
  { startMs, endMs, originMs }: Pick<TimeSpan, 'startMs' | 'endMs' | 'originMs'>,
  numPixels = Infinity,
): readonly StepRow[] {
  const rows = steps.map(toRow);
  if (rows.length <= numPixels) return rows;
  return groupByPixel(rows, { originMs, pixelMs: (endMs - startMs) / numPixels }).map((group) =>
    group.reduce(merge),
  );
}

function toRow({ kind, batchSize, stepMs, endedAtMs, queueLength }: TracedStep): StepRow {
  return {
    startedAtMs: endedAtMs - stepMs,
    endedAtMs,
    decode: kind === 'decode' ? batchSize : null,
    prefill: kind === 'prefill' ? batchSize : null,
    numWaiting: queueLength,
  };
}

function merge(one: StepRow, next: StepRow): StepRow {
  return {
    startedAtMs: one.startedAtMs,
    endedAtMs: next.endedAtMs,
    decode: larger(one.decode, next.decode),
    prefill: larger(one.prefill, next.prefill),
    numWaiting: Math.max(one.numWaiting, next.numWaiting),
  };
}

function larger(one: number | null, other: number | null): number | null {
  return one === null || other === null ? (one ?? other) : Math.max(one, other);
}
