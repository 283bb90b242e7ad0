import { formatCount } from '../../parts/format.ts';
import type { LoadProgress } from './load-sender.ts';
import type { Scenario, Trace } from './scenario.ts';

/** A trial at its start, and those after it. */
export interface TrialStart {
  readonly label: string;
  readonly plannedMs: number;
  readonly numLater: number;
  /** All later trials together. */
  readonly laterMs: number;
}

/** The trials that have ended, all together. */
export interface EndedTrials {
  readonly num: number;
  readonly plannedMs: number;
  readonly tookMs: number;
}

export const NOTHING_ENDED: EndedTrials = { num: 0, plannedMs: 0, tookMs: 0 };

/** The place of a test in its plan. */
export interface PlanProgress {
  readonly label: string;
  /** From 1. */
  readonly index: number;
  readonly numTrials: number;
  readonly elapsedMs: number;
  readonly leftMs: number;
}

/** How long a trial takes if the engine keeps up: until the last arrival. */
export function plannedMsOf({ requests, closedLoop }: Trace, scenario?: Scenario): number {
  if (closedLoop) return closedLoop.durationSeconds * 1000;
  return scenario ? scenario.durationSeconds * 1000 : (requests.at(-1)?.atMs ?? 0);
}

type Sending = Pick<LoadProgress, 'elapsedMs' | 'numSent' | 'numFinished' | 'numRejected' | 'numToSend'>;

/** Scales the plan by what the ended trials took. */
export function estimatePlan(start: TrialStart, ended: EndedTrials, progress: Sending): PlanProgress {
  const { label, plannedMs, numLater, laterMs } = start;
  const factor = ended.plannedMs > 0 ? ended.tookMs / ended.plannedMs : 1;
  const { elapsedMs } = progress;
  const currentMs = Math.max(elapsedMs, drainedAtMs(progress) ?? plannedMs * factor);
  const index = ended.num + 1;
  return {
    label,
    index,
    numTrials: index + numLater,
    elapsedMs: ended.tookMs + elapsedMs,
    leftMs: currentMs - elapsedMs + laterMs * factor,
  };
}

/** Once all requests are sent and a tenth is over, the rate of their ends says more than the plan. */
function drainedAtMs({
  elapsedMs,
  numSent,
  numFinished,
  numRejected,
  numToSend,
}: Sending): number | undefined {
  const numOver = numFinished + numRejected;
  if (numToSend === undefined || numSent < numToSend || numOver === 0 || 10 * numOver < numToSend)
    return undefined;
  return (elapsedMs * numToSend) / numOver;
}

/** “static · run 2 of 3 · about 12 s left” */
export function describePlan({ label, index, numTrials, leftMs }: PlanProgress): string {
  // Whole seconds: an estimate has no tenths.
  const left = leftMs < 1000 ? 'less than 1 s' : `about ${formatCount(Math.ceil(leftMs / 1000))} s`;
  return `${label} · run ${formatCount(index)} of ${formatCount(numTrials)} · ${left} left`;
}
