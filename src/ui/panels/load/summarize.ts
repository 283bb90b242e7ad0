import { TEXT_GENERATOR, percentilesOf } from '../../../client/index.ts';
import type { LoadRun, Outcome } from './load-sender.ts';
import type { LoadedDeployment, TrialKnobs } from './load-target.ts';
import type { Trace } from './scenario.ts';
import type { TrialSlots } from '../trials/trial-slots.ts';

export type LoadSummary = Readonly<ReturnType<typeof summarize>>;

export interface Trial {
  readonly label: string;
  /** In force during the run. */
  readonly policy: TrialKnobs;
  /** Requests per second, in a rate sweep. */
  readonly rate?: number | undefined;
  readonly trace: Trace;
  readonly run: LoadRun;
  readonly summary: LoadSummary;
  readonly slots?: TrialSlots;
}

/** The latencies of a text, with their titles. */
export const LATENCIES = [
  ['TTFT', 'ttftMs'],
  ['TPOT', 'tpotMs'],
  ['Queue wait', 'queueWaitMs'],
  ['End to end', 'e2eMs'],
] as const satisfies (readonly [title: string, figure: keyof LoadSummary])[];

/** An embedder has no first token, and its batch says how long a request waited. */
export function latenciesOf(deployment: LoadedDeployment) {
  return LATENCIES.filter(([, figure]) => deployment === TEXT_GENERATOR || figure === 'e2eMs');
}

type Finished = Extract<Outcome, { status: 'finished' }>;

/** Latencies are in ms, of the finished requests; undefined where none finished. */
export function summarize({ outcomes, durationMs }: LoadRun, latencyLimitMs: number) {
  const finished = outcomes.filter((outcome) => outcome.status === 'finished');
  const count = (status: Outcome['status']): number =>
    outcomes.filter((outcome) => outcome.status === status).length;
  const perSecond = (amount: number): number => (durationMs > 0 ? (amount * 1000) / durationMs : 0);
  const numOutputTokens = sumOf(finished, ({ numOutputTokens: tokens = 0 }) => tokens);
  const numTokens = sumOf(finished, (outcome) => outcome.numOutputTokens ?? outcome.numPromptTokens);
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
    /** Generated tokens; for an embedder, the tokens that it read. */
    tokensPerSecond: perSecond(numTokens),
    requestsPerSecond: perSecond(finished.length),
    /** Requests that finished within the latency limit. */
    goodputPerSecond: perSecond(numGood),
    ttftMs: percentilesOf(finished.flatMap(({ timings }) => timings.ttftMs ?? [])),
    // A single token has no time between tokens.
    tpotMs: percentilesOf(finished.flatMap(({ timings }) => timings.tpotMs || [])),
    queueWaitMs: percentilesOf(finished.flatMap(({ timings }) => timings.queueWaitMs ?? [])),
    e2eMs: percentilesOf(finished.map(({ timings }) => timings.e2eMs)),
  };
}

function sumOf(finished: readonly Finished[], amountOf: (outcome: Finished) => number): number {
  return finished.reduce((sum, outcome) => sum + amountOf(outcome), 0);
}
