import type { LogSlice, WorkerLog } from '../../../client/index.ts';

const MAX_REQUESTS = 1000;

const SLICE_MS = 10_000;

const HOUR_MS = 3_600_000;

/** What the worker has told so far, with its next answer. */
export function mergeLogs(before: WorkerLog | undefined, next: WorkerLog): WorkerLog {
  if (!before || next.isWhole) return next;
  const [first] = next.slices;
  const sinceMs = (next.slices.at(-1) ?? before.slices.at(-1))?.startedAtMs ?? 0;
  const kept = before.slices.filter(
    ({ startedAtMs }) => startedAtMs > sinceMs - HOUR_MS && startedAtMs < (first?.startedAtMs ?? Infinity),
  );
  return {
    ...next,
    requests: [...before.requests, ...next.requests].slice(-MAX_REQUESTS),
    slices: [...kept, ...next.slices],
  };
}

/** 10 s; `idle` where nothing was done, `unknown` before the log began. */
export type HourSlice = LogSlice | 'idle' | 'unknown';

/** Each 10 s of the hour before `nowMs`, the current one last. */
export function sliceHour(
  { slices, startedAtMs: begunAtMs }: Pick<WorkerLog, 'slices' | 'startedAtMs'>,
  nowMs: number,
): readonly (readonly [startedAtMs: number, slice: HourSlice])[] {
  const byStart = new Map(slices.map((slice) => [slice.startedAtMs, slice]));
  const last = Math.floor(nowMs / SLICE_MS) * SLICE_MS;
  return Array.from({ length: HOUR_MS / SLICE_MS }, (_, index) => {
    const startedAtMs = last - HOUR_MS + (index + 1) * SLICE_MS;
    const isKnown = startedAtMs + SLICE_MS > begunAtMs;
    return [startedAtMs, byStart.get(startedAtMs) ?? (isKnown ? 'idle' : 'unknown')] as const;
  });
}
