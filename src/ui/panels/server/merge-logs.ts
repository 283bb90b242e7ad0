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

/** One entry for each 10 s of the hour before `nowMs`; undefined where nothing was done. */
export function sliceHour(
  slices: readonly LogSlice[],
  nowMs: number,
): readonly (readonly [startedAtMs: number, slice: LogSlice | undefined])[] {
  const byStart = new Map(slices.map((slice) => [slice.startedAtMs, slice]));
  const last = Math.floor(nowMs / SLICE_MS) * SLICE_MS;
  return Array.from({ length: HOUR_MS / SLICE_MS }, (_, index) => {
    const startedAtMs = last - HOUR_MS + (index + 1) * SLICE_MS;
    return [startedAtMs, byStart.get(startedAtMs)] as const;
  });
}
