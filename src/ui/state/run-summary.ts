import type { LatencySummary, RequestId, TabserveStatus } from '../../client/index.ts';
import type { RequestView } from './request-view.ts';
import type { Run } from './run.ts';
import type { SlotBar, SlotHistory, TracedStep } from './slot-history.ts';

/** Durations in ms. */
export type Spread = Pick<LatencySummary, 'p50' | 'p95' | 'p99'>;

/** Undefined where nothing was measured. */
export interface RunLatencies {
  readonly ttftMs: Spread | undefined;
  readonly itlMs: Spread | undefined;
  readonly queueWaitMs: Spread | undefined;
  readonly e2eMs: Spread | undefined;
}

export interface RunSummary extends RunLatencies {
  readonly numRequests: number;
  /** The requests of other tabs and of HTTP clients. */
  readonly numForeign: number;
  /** Until the last step, while the run goes on. */
  readonly elapsedMs: number;
  /** The most sequences in one step; undefined where no step is known, as with an upstream. */
  readonly peakBatchSize: number | undefined;
  readonly tokensPerSecond: number;
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

/** A part of the store's view, with its history. */
interface Recorded {
  readonly requests: ReadonlyMap<RequestId, RequestView>;
  readonly history: { readonly slots: SlotHistory };
}

/** All figures of a run, on the worker's clock. */
export function summarizeRun(
  run: Run,
  { requests, history, status }: Recorded & { readonly status: TabserveStatus },
): RunSummary {
  const rows = run.requestIds.flatMap((id) => requests.get(id) ?? []);
  const { steps } = history.slots;
  const endMs = run.endedAtMs ?? Math.max(run.startedAtMs, steps.at(-1)?.endedAtMs ?? 0);
  const ofRun = stepsBetween(steps, run.startedAtMs, endMs);
  const elapsedMs = endMs - run.startedAtMs;
  const latencies = latenciesOf(run, { requests, history }, endMs);
  const ids = new Set(run.requestIds);
  const bars = history.slots.bars.filter(({ requestId }) => ids.has(requestId));
  const numOutputTokens = Math.max(
    rows.reduce((sum, row) => sum + row.numOutputTokens, 0),
    // Most rows of a job are gone by now.
    bars.reduce((sum, { numTokens }) => sum + numTokens, 0),
  );
  return {
    numRequests: run.requestIds.length,
    numForeign: rows.filter(({ clientId }) => clientId !== undefined).length,
    elapsedMs,
    peakBatchSize: ofRun.length > 0 ? Math.max(...ofRun.map(({ batchSize }) => batchSize)) : undefined,
    tokensPerSecond: elapsedMs > 0 ? (numOutputTokens * 1000) / elapsedMs : 0,
    ...latencies,
    // Without slots, as with an upstream, the requests say it.
    ttftMs: latencies.ttftMs ?? spreadOf(rows.flatMap(({ ttftMs }) => ttftMs ?? []).map(once)),
    stall: prefillStall(tokenGaps(ofRun), status.policy.maxBatchedTokens),
  };
}

/** Of what had happened by then. */
export function latenciesOf(
  run: Run,
  { requests, history: { slots } }: Recorded,
  untilMs: number,
): RunLatencies {
  const ids = new Set(run.requestIds);
  const sequences = sequencesOf(slots.bars.filter(({ requestId }) => ids.has(requestId)));
  const ttfts = sequences
    .filter(({ firstTokenAtMs = Infinity }) => firstTokenAtMs <= untilMs)
    .map((sequence) => ttftOf(sequence, requests));
  const started = sequences.filter(({ startedAtMs }) => startedAtMs < untilMs);
  const ended = sequences.flatMap(({ arrivedAtMs, endedAtMs = Infinity }) =>
    endedAtMs <= untilMs ? endedAtMs - arrivedAtMs : [],
  );
  const gaps = tokenGaps(stepsBetween(slots.steps, run.startedAtMs, untilMs));
  return {
    ttftMs: spreadOf(ttfts.map(once)),
    itlMs: spreadOf(gaps.map(({ gapMs, numSequences }) => [gapMs, numSequences])),
    queueWaitMs: spreadOf(started.map(({ startedAtMs, arrivedAtMs }) => once(startedAtMs - arrivedAtMs))),
    e2eMs: spreadOf(ended.map(once)),
  };
}

/** A sequence from its arrival to its end, through all slots and workers. */
export interface SequenceTimes {
  readonly requestId: RequestId;
  readonly arrivedAtMs: number;
  readonly startedAtMs: number;
  readonly firstTokenAtMs: number | undefined;
  /** Undefined while it runs. */
  readonly endedAtMs: number | undefined;
}

/** A request that another worker took over may have got its first token from the one before. */
export function ttftOf(
  { requestId, arrivedAtMs, firstTokenAtMs = Infinity }: SequenceTimes,
  requests: Recorded['requests'],
): number {
  return requests.get(requestId)?.ttftMs ?? firstTokenAtMs - arrivedAtMs;
}

/** In the order of the first bars, which come before the others. */
export function sequencesOf(bars: readonly SlotBar[]): readonly SequenceTimes[] {
  const sequences = new Map<string, SequenceTimes>();
  for (const { requestId, index, queueWaitMs, startedAtMs, firstTokenAtMs, endedAtMs, end } of bars) {
    const name = `${requestId}#${index}`;
    const first = sequences.get(name) ?? { requestId, startedAtMs, arrivedAtMs: startedAtMs - queueWaitMs };
    const isOver = end !== 'moved' && end !== 'lost';
    sequences.set(name, {
      ...first,
      firstTokenAtMs: sequences.get(name)?.firstTokenAtMs ?? firstTokenAtMs,
      endedAtMs: isOver ? endedAtMs : undefined,
    });
  }
  return [...sequences.values()];
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
  return { p50: at(0.5), p95: at(0.95), p99: at(0.99) };
}
