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
  /** Until the last step, while the run goes on. */
  readonly elapsedMs: number;
  /** The most sequences in one step; undefined where no step is known, as with a server. */
  readonly peakBatchSize: number | undefined;
  readonly tokensPerSecond: number;
  readonly stall: PrefillStall | undefined;
  /** Undefined where none was made. */
  readonly guesses: GuessCounts | undefined;
}

/** What prompt lookup did. */
export interface GuessCounts {
  readonly numGuessed: number;
  readonly numRight: number;
  /** Of one text, on average. */
  readonly tokensPerStep: number;
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

interface Sampled {
  readonly history: {
    readonly samples: readonly { readonly atMs: number; readonly figures?: RunLatencies }[];
  };
}

/** All figures of a run, on the worker's clock. */
export function summarizeRun(
  run: Run,
  { requests, history, status }: Recorded & Sampled & { readonly status: TabserveStatus },
): RunSummary {
  const rows = run.requestIds.flatMap((id) => requests.get(id) ?? []);
  const { steps } = history.slots;
  const endMs = run.endedAtMs ?? Math.max(run.startedAtMs, steps.at(-1)?.endedAtMs ?? 0);
  const ofRun = stepsBetween(steps, run.startedAtMs, endMs);
  const elapsedMs = endMs - run.startedAtMs;
  const latencies = sampledLatencies(run, history, ofRun) ?? latencyReader(run, { requests, history })(endMs);
  const ids = new Set(run.requestIds);
  const bars = history.slots.bars.filter(({ requestId }) => ids.has(requestId));
  const numOutputTokens = Math.max(
    rows.reduce((sum, row) => sum + row.numOutputTokens, 0),
    // Most rows of a job are gone by now.
    bars.reduce((sum, { numTokens }) => sum + numTokens, 0),
  );
  return {
    numRequests: run.requestIds.length,
    elapsedMs,
    peakBatchSize: ofRun.length > 0 ? Math.max(...ofRun.map(({ batchSize }) => batchSize)) : undefined,
    tokensPerSecond: elapsedMs > 0 ? (numOutputTokens * 1000) / elapsedMs : 0,
    itlMs: latencies.itlMs,
    queueWaitMs: latencies.queueWaitMs,
    e2eMs: latencies.e2eMs,
    // Without slots, as with a server, the requests say it.
    ttftMs:
      latencies.ttftMs ??
      spreadReader(rows.flatMap(({ ttftMs: ms }) => (ms === undefined ? [] : { atMs: 0, ms })))(endMs),
    stall: prefillStall(tokenGaps(ofRun), status.policy.maxBatchedTokens),
    guesses: countGuesses(ofRun),
  };
}

function countGuesses(steps: readonly TracedStep[]): GuessCounts | undefined {
  const counts = { numGuessed: 0, numRight: 0, numSampled: 0 };
  for (const { kind, batchSize, numGuessedTokens, numRightGuesses } of steps) {
    counts.numGuessed += numGuessedTokens;
    counts.numRight += numRightGuesses;
    if (kind === 'decode') counts.numSampled += batchSize;
  }
  const { numGuessed, numRight, numSampled } = counts;
  return numGuessed > 0
    ? { numGuessed, numRight, tokensPerStep: (numSampled + numRight) / numSampled }
    : undefined;
}

/** While a run goes on, the charts' newest ones do: a job has thousands of steps. Undefined where there are none yet. */
function sampledLatencies(
  run: Run,
  { samples }: Sampled['history'],
  steps: readonly TracedStep[],
): RunLatencies | undefined {
  const sample = samples.at(-1);
  const isOfRun = sample !== undefined && sample.atMs >= run.startedAtMs && steps.length > 0;
  return run.endedAtMs === undefined && isOfRun ? sample.figures : undefined;
}

/** Reads the latencies of what had happened by a time. A frame may bring a job's messages of a second, and each is sampled. */
export function latencyReader(
  run: Run,
  { requests, history: { slots } }: Recorded,
): (untilMs: number) => RunLatencies {
  const ids = new Set(run.requestIds);
  const sequences = sequencesOf(slots.bars.filter(({ requestId }) => ids.has(requestId)));
  const gaps = tokenGaps(stepsBetween(slots.steps, run.startedAtMs, Infinity));
  const ttftMs = spreadReader(
    sequences.map((times) => ({ atMs: times.firstTokenAtMs ?? Infinity, ms: ttftOf(times, requests) })),
  );
  const itlMs = spreadReader(
    gaps.map(({ endedAtMs, gapMs, numSequences }) => ({ atMs: endedAtMs, ms: gapMs, weight: numSequences })),
  );
  const queueWaitMs = spreadReader(
    sequences.map(({ startedAtMs, arrivedAtMs }) => ({ atMs: startedAtMs, ms: startedAtMs - arrivedAtMs })),
    // The message that is sent at a sequence's start doesn't report it yet.
    (atMs, nowMs) => atMs < nowMs,
  );
  const e2eMs = spreadReader(
    sequences.map(({ arrivedAtMs, endedAtMs = Infinity }) => ({
      atMs: endedAtMs,
      ms: endedAtMs - arrivedAtMs,
    })),
  );
  return (untilMs) => ({
    ttftMs: ttftMs(untilMs),
    itlMs: itlMs(untilMs),
    queueWaitMs: queueWaitMs(untilMs),
    e2eMs: e2eMs(untilMs),
  });
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

/** The stall of the prompts whose pieces took longest; undefined where running texts waited for no prompt in pieces. */
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

/** Where a sorted list begins to satisfy the condition; its length where it doesn't. */
function firstIndex<Item>(items: readonly Item[], satisfies: (item: Item) => boolean): number {
  let [from, to] = [0, items.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    const item = items[middle];
    if (item !== undefined && satisfies(item)) to = middle;
    else from = middle + 1;
  }
  return from;
}

/** The steps that ended in this time. */
export function stepsBetween(
  steps: readonly TracedStep[],
  startMs: number,
  endMs: number,
): readonly TracedStep[] {
  const first = firstIndex(steps, ({ endedAtMs }) => endedAtMs >= startMs);
  const last = firstIndex(steps, ({ endedAtMs }) => endedAtMs > endMs);
  return steps.slice(first, last);
}

interface Duration {
  /** When it had passed; Infinity while it lasts. */
  readonly atMs: number;
  readonly ms: number;
  /** How often it counts: once, unless it says otherwise. */
  readonly weight?: number;
}

/** A value and its place share a number, so that they are sorted as numbers: pairs take ten times as long. */
const [UNITS_PER_MS, MAX_PLACES] = [1000, 2 ** 15];

/** Nearest rank over weighted values, to 1 µs: the smallest value that at least this share of the weight doesn't exceed. */
function spreadReader(
  durations: readonly Duration[],
  isPast = (atMs: number, nowMs: number): boolean => atMs <= nowMs,
): (nowMs: number) => Spread | undefined {
  const keys = Float64Array.from(durations, ({ ms }, place) => toUnits(ms) * MAX_PLACES + place).toSorted();
  const sorted: Duration[] = [];
  for (const key of keys) {
    const duration = durations[key - Math.floor(key / MAX_PLACES) * MAX_PLACES];
    if (duration) sorted.push(duration);
  }
  return (nowMs) => {
    const known = sorted.filter(({ atMs }) => isPast(atMs, nowMs));
    if (known.length === 0) return undefined;
    const total = known.reduce((sum, { weight = 1 }) => sum + weight, 0);
    const at = (share: number): number => {
      let left = share * total - 1e-9;
      const found = known.find(({ weight = 1 }) => (left -= weight) <= 0);
      return toUnits(found?.ms ?? 0) / UNITS_PER_MS;
    };
    return { p50: at(0.5), p95: at(0.95), p99: at(0.99) };
  };
}

function toUnits(ms: number): number {
  return Math.round(ms * UNITS_PER_MS);
}
