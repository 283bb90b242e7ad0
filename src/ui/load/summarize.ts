import type { LoadRun, Outcome } from './run-load.ts';

export interface Percentiles {
  readonly p50: number;
  readonly p95: number;
  readonly p99: number;
}

/** The figures of a run. Latencies are in ms, of the finished requests; undefined where none finished. */
export interface LoadSummary {
  readonly numSent: number;
  readonly numFinished: number;
  readonly numRejected: number;
  readonly numFailed: number;
  readonly numCancelled: number;
  readonly numPromptTokens: number;
  readonly numOutputTokens: number;
  readonly durationMs: number;
  /** Output tokens. */
  readonly tokensPerSecond: number;
  readonly requestsPerSecond: number;
  /** Requests that finished within the latency limit. */
  readonly goodputPerSecond: number;
  readonly ttftMs: Percentiles | undefined;
  readonly tpotMs: Percentiles | undefined;
  readonly queueWaitMs: Percentiles | undefined;
  readonly e2eMs: Percentiles | undefined;
}

type Finished = Extract<Outcome, { status: 'finished' }>;

export function summarize({ outcomes, durationMs }: LoadRun, latencyLimitMs: number): LoadSummary {
  const finished = outcomes.filter((outcome) => outcome.status === 'finished');
  const count = (status: Outcome['status']): number =>
    outcomes.filter((outcome) => outcome.status === status).length;
  const perSecond = (amount: number): number => (durationMs > 0 ? (amount * 1000) / durationMs : 0);
  const numOutputTokens = sumOf(finished, ({ numOutputTokens: tokens }) => tokens);
  const numGood = finished.filter(({ timings }) => timings.e2eMs <= latencyLimitMs).length;
  return {
    numSent: outcomes.length,
    numFinished: finished.length,
    numRejected: count('rejected'),
    numFailed: count('failed'),
    numCancelled: count('cancelled'),
    numPromptTokens: sumOf(finished, ({ numPromptTokens }) => numPromptTokens),
    numOutputTokens,
    durationMs,
    tokensPerSecond: perSecond(numOutputTokens),
    requestsPerSecond: perSecond(finished.length),
    goodputPerSecond: perSecond(numGood),
    ttftMs: percentilesOf(finished.map(({ timings }) => timings.ttftMs)),
    // A single token has no time between tokens.
    tpotMs: percentilesOf(finished.map(({ timings }) => timings.tpotMs).filter((value) => value > 0)),
    queueWaitMs: percentilesOf(finished.map(({ timings }) => timings.queueWaitMs)),
    e2eMs: percentilesOf(finished.map(({ timings }) => timings.e2eMs)),
  };
}

function sumOf(finished: readonly Finished[], amountOf: (outcome: Finished) => number): number {
  return finished.reduce((sum, outcome) => sum + amountOf(outcome), 0);
}

/** Nearest rank, like the worker's metrics: the smallest value that at least this share does not exceed. */
export function percentilesOf(values: readonly number[]): Percentiles | undefined {
  if (values.length === 0) return undefined;
  const sorted = values.toSorted((a, b) => a - b);
  const at = (share: number): number => sorted[Math.ceil(share * sorted.length) - 1] ?? 0;
  return { p50: at(0.5), p95: at(0.95), p99: at(0.99) };
}
