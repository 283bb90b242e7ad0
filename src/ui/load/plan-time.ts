import { formatCount } from '../parts/format.ts';
import type { LoadProgress } from './load-sender.ts';
import type { Scenario, Trace } from './scenario.ts';

/** A search for knobs needs fewer or more trials, as its rounds come out. */
export interface Range {
  readonly least: number;
  readonly most: number;
}

/** A trial at its start, and those after it. */
export interface TrialStart {
  readonly label: string;
  readonly plannedMs: number;
  readonly numLater: Range;
  /** All later trials together. */
  readonly laterMs: Range;
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
  readonly numTrials: Range;
  readonly elapsedMs: number;
  readonly leftMs: Range;
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
  const leftOf = (laterTrialsMs: number): number => currentMs - elapsedMs + laterTrialsMs * factor;
  const index = ended.num + 1;
  return {
    label,
    index,
    numTrials: { least: index + numLater.least, most: index + numLater.most },
    elapsedMs: ended.tookMs + elapsedMs,
    leftMs: { least: leftOf(laterMs.least), most: leftOf(laterMs.most) },
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
  const { least, most } = numTrials;
  const count = least === most ? formatCount(most) : `${formatCount(least)} to ${formatCount(most)}`;
  const left = leftMs.most < 1000 ? 'less than 1 s' : `about ${rangeOf(leftMs.least, leftMs.most)}`;
  return `${label} · run ${formatCount(index)} of ${count} · ${left} left`;
}

/** Whole seconds: an estimate has no tenths. */
function rangeOf(leastMs: number, mostMs: number): string {
  const [least, most] = [Math.ceil(leastMs / 1000), Math.ceil(mostMs / 1000)];
  return least === most ? `${formatCount(most)} s` : `${formatCount(least)} to ${formatCount(most)} s`;
}
