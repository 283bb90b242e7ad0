import type { LatencySummary } from '../../client/index.ts';
import type { RequestView } from './request-view.ts';
import type { Run } from './run.ts';
import type { RecordedView } from './serve-store.ts';
import type { TracedStep } from './slot-history.ts';

/** Durations in ms. */
export type Spread = Pick<LatencySummary, 'p50' | 'p95'>;

export interface RunSummary {
  readonly numRequests: number;
  /** The requests of other tabs and of HTTP clients. */
  readonly numForeign: number;
  /** Until now while the run goes on. */
  readonly elapsedMs: number;
  /** The most sequences in one step; undefined where no step is known, as with an upstream. */
  readonly peakBatchSize: number | undefined;
  readonly tokensPerSecond: number;
  readonly ttftMs: Spread | undefined;
  readonly itlMs: Spread | undefined;
}

/** A measured inter-token latency: from one decode step to the next, with the prefill between them. */
export interface TokenGap {
  readonly endedAtMs: number;
  readonly gapMs: number;
  /** Sequences that got a token. */
  readonly numSequences: number;
}

export function summarizeRun(
  run: Run,
  { requests, history }: Pick<RecordedView, 'requests' | 'history'>,
  nowMs: number,
): RunSummary {
  const { startedAtMs, endedAtMs = nowMs, requestIds } = run;
  const ids = new Set(requestIds);
  const rows = requestIds.flatMap((id) => requests.get(id) ?? []);
  const steps = stepsBetween(history.slots.steps, startedAtMs, Math.max(endedAtMs, nowMs));
  const bars = history.slots.bars.filter(({ requestId }) => ids.has(requestId));
  const ttfts = bars.flatMap(({ spanIndex, startedAtMs: startMs, firstTokenAtMs, queueWaitMs }) =>
    spanIndex === 0 && firstTokenAtMs !== undefined ? firstTokenAtMs - startMs + queueWaitMs : [],
  );
  const elapsedMs = Math.max(0, endedAtMs - startedAtMs);
  const numOutputTokens = rows.reduce((sum, row) => sum + row.numOutputTokens, 0);
  return {
    numRequests: requestIds.length,
    numForeign: rows.filter(({ clientId }) => clientId !== undefined).length,
    elapsedMs,
    peakBatchSize: steps.length > 0 ? Math.max(...steps.map(({ batchSize }) => batchSize)) : undefined,
    tokensPerSecond: elapsedMs > 0 ? (numOutputTokens * 1000) / elapsedMs : 0,
    ttftMs: spreadOf(ttfts.length > 0 ? ttfts.map(once) : ttftsOf(rows).map(once)),
    itlMs: spreadOf(tokenGaps(steps).map(({ gapMs, numSequences }) => [gapMs, numSequences])),
  };
}

/** Oldest first, like the steps. The first decode step has no gap. */
export function tokenGaps(steps: readonly TracedStep[]): readonly TokenGap[] {
  const gaps: TokenGap[] = [];
  let sinceDecodeMs: number | undefined;
  for (const { kind, stepMs, endedAtMs, batchSize } of steps) {
    if (sinceDecodeMs !== undefined) sinceDecodeMs += stepMs;
    if (kind !== 'decode') continue;
    if (sinceDecodeMs !== undefined) gaps.push({ endedAtMs, gapMs: sinceDecodeMs, numSequences: batchSize });
    sinceDecodeMs = 0;
  }
  return gaps;
}

/** The steps that ended in this time. */
export function stepsBetween(
  steps: readonly TracedStep[],
  startMs: number,
  endMs: number,
): readonly TracedStep[] {
  const first = steps.findLastIndex(({ endedAtMs }) => endedAtMs < startMs) + 1;
  const last = steps.findLastIndex(({ endedAtMs }) => endedAtMs <= endMs) + 1;
  return steps.slice(first, last);
}

function ttftsOf(rows: readonly RequestView[]): readonly number[] {
  return rows.flatMap(({ ttftMs }) => ttftMs ?? []);
}

function once(value: number): readonly [value: number, weight: number] {
  return [value, 1];
}

/** Nearest rank over weighted values: the smallest value that at least this share of the weight doesn't exceed. */
function spreadOf(values: readonly (readonly [value: number, weight: number])[]): Spread | undefined {
  if (values.length === 0) return undefined;
  const sorted = values.toSorted(([one], [other]) => one - other);
  const total = sorted.reduce((sum, [, weight]) => sum + weight, 0);
  const at = (share: number): number => {
    let left = share * total;
    return sorted.find(([, weight]) => (left -= weight) <= 1e-9)?.[0] ?? 0;
  };
  return { p50: at(0.5), p95: at(0.95) };
}
