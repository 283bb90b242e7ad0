import type { LoadSummary, Percentiles, Trial } from './summarize.ts';
import { contendersOf, medianOf, withinLimit } from './tell-apart.ts';

export interface Candidate extends Pick<Trial, 'label' | 'policy'> {
  readonly rounds: readonly Trial[];
  /** The median of each figure over the rounds; counts of requests and tokens are sums. */
  readonly summary: LoadSummary;
}

export interface Ranking {
  /** The first of the contenders: the smallest batch or the shortest wait. */
  readonly best: Candidate;
  /** Settings that no other one measurably beats, the best one included. */
  readonly contenders: readonly Candidate[];
  /** All settings, in the order of the trials. */
  readonly candidates: readonly Candidate[];
}

export interface Suggestion {
  readonly sizes: Ranking;
  /** Waits at the best size. Left out where the sizes made no measurable difference. */
  readonly waits?: Ranking;
  /** Whether more rounds would have followed. */
  readonly isStopped: boolean;
}

export function combineRounds(trials: readonly Trial[]): readonly Candidate[] {
  const byLabel = Map.groupBy(trials, ({ label }) => label);
  return [...byLabel.values()].flatMap((rounds) => {
    const [first] = rounds;
    if (!first) return [];
    const summary = combineSummaries(rounds.map((round) => round.summary));
    return { label: first.label, policy: first.policy, rounds, summary };
  });
}

/**
 * Ranks the settings that keep the latency limit for 95 % of the requests: by requests in time, then by p95, then by order. Where no
 * setting keeps the limit, p95 alone counts.
 *
 * @returns Undefined where nothing finished, or where requests were stopped, which made the others faster.
 */
export function rank(trials: readonly Trial[], latencyLimitMs: number): Ranking | undefined {
  if (trials.some(({ summary }) => summary.numCancelled > 0)) return undefined;
  const candidates = combineRounds(trials);
  const serving = candidates.filter(({ rounds }) => rounds.every(({ summary }) => summary.e2eMs));
  const keeping = pick(serving, withinLimit(serving.map(p95sOf), latencyLimitMs));
  const most = pick(keeping, contendersOf(keeping.map(goodputsOf), 'more'));
  const pool = most.length > 0 ? most : serving;
  const contenders = pick(pool, contendersOf(pool.map(p95sOf), 'less'));
  const [best] = contenders;
  return best && { best, contenders, candidates };
}

/** Whether the settings differ by more than their rounds do among themselves. */
export function isMeasurable({ contenders, candidates }: Ranking): boolean {
  return contenders.length < candidates.length;
}

export function goodputsOf({ rounds }: Candidate): readonly number[] {
  return rounds.map(({ summary }) => summary.goodputPerSecond);
}

export function p95sOf({ rounds }: Candidate): readonly number[] {
  return rounds.map(({ summary }) => summary.e2eMs?.p95 ?? Infinity);
}

function pick(candidates: readonly Candidate[], indexes: readonly number[]): readonly Candidate[] {
  return candidates.filter((_, index) => indexes.includes(index));
}

function combineSummaries(summaries: readonly LoadSummary[]): LoadSummary {
  const sum = (of: (summary: LoadSummary) => number): number =>
    summaries.reduce((total, summary) => total + of(summary), 0);
  const median = (of: (summary: LoadSummary) => number): number => medianOf(summaries.map(of));
  const percentiles = (of: (summary: LoadSummary) => Percentiles | undefined): Percentiles | undefined => {
    const known = summaries.map(of).filter((value) => value !== undefined);
    const medianAt = (share: keyof Percentiles): number => medianOf(known.map((value) => value[share]));
    return known.length > 0
      ? { p50: medianAt('p50'), p95: medianAt('p95'), p99: medianAt('p99') }
      : undefined;
  };
  return {
    numSent: sum(({ numSent }) => numSent),
    numFinished: sum(({ numFinished }) => numFinished),
    numRejected: sum(({ numRejected }) => numRejected),
    numFailed: sum(({ numFailed }) => numFailed),
    numCancelled: sum(({ numCancelled }) => numCancelled),
    numPromptTokens: sum(({ numPromptTokens }) => numPromptTokens),
    numOutputTokens: sum(({ numOutputTokens }) => numOutputTokens),
    durationMs: median(({ durationMs }) => durationMs),
    tokensPerSecond: median(({ tokensPerSecond }) => tokensPerSecond),
    requestsPerSecond: median(({ requestsPerSecond }) => requestsPerSecond),
    goodputPerSecond: median(({ goodputPerSecond }) => goodputPerSecond),
    ttftMs: percentiles(({ ttftMs }) => ttftMs),
    tpotMs: percentiles(({ tpotMs }) => tpotMs),
    queueWaitMs: percentiles(({ queueWaitMs }) => queueWaitMs),
    e2eMs: percentiles(({ e2eMs }) => e2eMs),
  };
}
