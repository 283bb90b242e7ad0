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
  readonly stall: PrefillStall | undefined;
}

/** The longest pause of running texts while prompts were read in pieces. Durations in ms. */
export interface PrefillStall {
  readonly gapMs: number;
  /** The pause if all pieces had been one step, or as much of them as `maxBatchedTokens` allows. */
  readonly unsplitMs: number;
}

/** A measured inter-token latency: from one decode step to the next, with the prefill between them. */
export interface TokenGap {
  readonly endedAtMs: number;
  readonly gapMs: number;
  /** Sequences that got a token. */
  readonly numSequences: number;
  readonly prefillMs: number;
  readonly numPrefillTokens: number;
}

export function summarizeRun(
  run: Run,
  { requests, history, status }: Pick<RecordedView, 'requests' | 'history' | 'status'>,
  nowMs: number,
): RunSummary {
  const { startedAtMs, endedAtMs = nowMs, requestIds } = run;
  const ids = new Set(requestIds);
  const rows = requestIds.flatMap((id) => requests.get(id) ?? []);
  const steps = stepsBetween(history.slots.steps, startedAtMs, Math.max(endedAtMs, nowMs));
  const gaps = tokenGaps(steps);
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
    itlMs: spreadOf(gaps.map(({ gapMs, numSequences }) => [gapMs, numSequences])),
    stall: prefillStall(gaps, status.policy.maxBatchedTokens),
  };
}

/** Oldest first, like the steps. The first decode step has no gap. */
export function tokenGaps(steps: readonly TracedStep[]): readonly TokenGap[] {
  const gaps: TokenGap[] = [];
  let waited: Pick<TokenGap, 'prefillMs' | 'numPrefillTokens'> | undefined;
  for (const { kind, stepMs, endedAtMs, batchSize, numTokens } of steps) {
    if (kind === 'decode') {
      if (waited)
        gaps.push({ ...waited, endedAtMs, gapMs: waited.prefillMs + stepMs, numSequences: batchSize });
      waited = { prefillMs: 0, numPrefillTokens: 0 };
    } else if (waited) {
      const { prefillMs, numPrefillTokens } = waited;
      waited = { prefillMs: prefillMs + stepMs, numPrefillTokens: numPrefillTokens + numTokens };
    }
  }
  return gaps;
}

/** Of the prompts whose pieces took longest; undefined where running texts waited for none in pieces. */
export function prefillStall(gaps: readonly TokenGap[], maxBatchedTokens: number): PrefillStall | undefined {
  let longest: PrefillStall | undefined;
  let pieces = { count: 0, ms: 0, numTokens: 0, gapMs: 0 };
  for (const { gapMs, prefillMs, numPrefillTokens } of gaps) {
    pieces = {
      count: pieces.count + 1,
      ms: pieces.ms + prefillMs,
      numTokens: pieces.numTokens + numPrefillTokens,
      gapMs: Math.max(pieces.gapMs, gapMs),
    };
    if (numPrefillTokens === 0) pieces = { count: 0, ms: 0, numTokens: 0, gapMs: 0 };
    const unsplitMs = pieces.ms * Math.min(1, maxBatchedTokens / pieces.numTokens) + gapMs - prefillMs;
    if (pieces.count > 1 && unsplitMs > (longest?.unsplitMs ?? 0))
      longest = { gapMs: pieces.gapMs, unsplitMs };
  }
  return longest;
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
