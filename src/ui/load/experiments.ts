import type { RequestId } from '../../client/index.ts';
import { createTrace } from './create-trace.ts';
import type { Mode } from './load-form.ts';
import { plannedMsOf, type Range, type TrialStart } from './plan-time.ts';
import { LoadSender, type LoadProgress } from './load-sender.ts';
import type { TrialOverride, LoadTarget, TrialKnobs } from './load-target.ts';
import type { Scenario, Trace } from './scenario.ts';
import { isMeasurable, rank, type Ranking, type Suggestion } from './suggest-knobs.ts';
import { summarize, type Trial } from './summarize.ts';
import type { TrialRecorder } from './trial-slots.ts';

export interface ExperimentOptions {
  readonly signal: AbortSignal;
  /** Sets the knobs of runs that name some. The caller releases it. */
  readonly override: TrialOverride | undefined;
  /** The time from arrival to end that a request may take, ms. */
  readonly latencyLimitMs: number;
  /** Of the slots; undefined where there are none. */
  readonly recorder: TrialRecorder | undefined;
  /** Trials keep their slots, for a timeline. */
  readonly keepsSlots?: boolean;
  readonly onStart: (start: TrialStart) => void;
  readonly onProgress: (progress: LoadProgress) => void;
  readonly onTrial: (trial: Trial) => void;
}

interface Plan {
  readonly label: string;
  readonly trace: Trace;
  /** How long it takes if the engine keeps up, ms. */
  readonly plannedMs: number;
  /** Left out: they stay. */
  readonly knobs?: Partial<TrialKnobs>;
  readonly rate?: number;
}

/** Multiples of the load's own rate. */
const RATE_FACTORS: readonly number[] = [0.25, 0.5, 1, 1.5, 2, 3];

/** The runs of a test. Without a scenario, the trace is replayed; for a sweep, it must have a rate. */
export function plansOf(
  mode: Exclude<Mode, 'suggest'>,
  scenario: Scenario | undefined,
  trace: Trace,
  target: Pick<LoadTarget, 'ways'>,
): readonly Plan[] {
  const plannedMs = plannedMsOf(trace, scenario);
  if (mode === 'run') return [{ label: 'run', trace, plannedMs }];
  if (mode === 'compare') return target.ways().map((way) => ({ ...way, trace, plannedMs }));
  const baseRate = scenario ? rateOfScenario(scenario, trace) : rateOf(trace);
  return RATE_FACTORS.map((factor) => {
    const rate = baseRate * factor;
    const scaled = scenario
      ? createTrace({ ...scenario, arrivals: { type: 'poisson', ratePerSecond: rate } })
      : { requests: trace.requests.map((request) => ({ ...request, atMs: request.atMs / factor })) };
    const label = `${Number(rate.toPrecision(3))}/s`;
    return { label, rate, trace: scaled, plannedMs: plannedMsOf(scaled, scenario) };
  });
}

/** The mean rate, for Poisson arrivals around it. A closed loop has the number of its users. */
function rateOfScenario({ durationSeconds }: Scenario, { requests, closedLoop }: Trace): number {
  return closedLoop?.numUsers ?? Math.max(0.1, requests.length / durationSeconds);
}

/** Requests per second; 0 for a closed loop and where all come at once. */
export function rateOf({ requests, closedLoop }: Trace): number {
  const lastAtMs = requests.at(-1)?.atMs ?? 0;
  return closedLoop || lastAtMs === 0 ? 0 : (requests.length * 1000) / lastAtMs;
}

const BATCH_WAITS_MS: readonly number[] = [0, 5, 20, 50];

/** The spread of fewer rounds means nothing. */
const MIN_ROUNDS = 3;
/** Settings that these rounds can't tell apart count as equal. */
const MAX_ROUNDS = 5;

/**
 * Finds the best batch size for a trace, then the best wait at that size; under `continuous` where batching is off.
 *
 * @returns The best so far where the search was stopped; undefined where nothing finished.
 */
export async function sweepKnobs(
  target: LoadTarget,
  trace: Trace,
  options: ExperimentOptions & { readonly scenario?: Scenario | undefined },
): Promise<Suggestion | undefined> {
  const { policy: before } = target.knobs();
  const policy = before && { policy: before === 'off' ? 'continuous' : before };
  const planOf = (maxBatchSize: number, batchWaitTimeoutMs: number): Plan => ({
    label: `size ${maxBatchSize}, wait ${batchWaitTimeoutMs} ms`,
    trace,
    plannedMs: plannedMsOf(trace, options.scenario),
    knobs: { ...policy, maxBatchSize, batchWaitTimeoutMs },
  });
  const sizePlans = target.batchSizes.map((size) => planOf(size, 0));
  const sizes = await repeat(target, sizePlans, BATCH_WAITS_MS.length, options);
  const ended = (): Pick<Suggestion, 'isStopped'> => ({ isStopped: options.signal.aborted });
  if (!sizes || options.signal.aborted || !isMeasurable(sizes)) return sizes && { sizes, ...ended() };
  const { maxBatchSize } = sizes.best.policy;
  const waitPlans = BATCH_WAITS_MS.map((waitMs) => planOf(maxBatchSize, waitMs));
  const waits = await repeat(target, waitPlans, 0, options);
  return { sizes, ...(waits && { waits }), ...ended() };
}

/** Runs all plans round after round until one is measurably the best. A plan that another one measurably beats isn't run again. */
async function repeat(
  target: LoadTarget,
  plans: readonly Plan[],
  numNextPlans: number,
  options: ExperimentOptions,
): Promise<Ranking | undefined> {
  let trials: readonly Trial[] = [];
  let contenders: ReadonlySet<string> = new Set(plans.map(({ label }) => label));
  let ranking: Ranking | undefined;
  for (let round = 1; round <= MAX_ROUNDS; round += 1) {
    const next = plans.filter(({ label }) => contenders.has(label));
    const later = trialsAfter(round, next.length, numNextPlans);
    // Every other round runs backward, so that a machine that slows down favors no plan. The first one sets the order.
    await runAll(target, round % 2 === 1 ? next : next.toReversed(), {
      ...options,
      onStart: ({ label, plannedMs, numLater, laterMs }) =>
        options.onStart({
          label: `${label}, round ${round}`,
          plannedMs,
          numLater: { least: numLater.least + later.least, most: numLater.most + later.most },
          laterMs: {
            least: laterMs.least + later.least * plannedMs,
            most: laterMs.most + later.most * plannedMs,
          },
        }),
      onTrial: (trial) => {
        trials = [...trials, { ...trial, round }];
        options.onTrial({ ...trial, round });
      },
    });
    // The run that was stopped says nothing.
    if (options.signal.aborted)
      return rank(
        trials.filter(({ summary }) => summary.numCancelled === 0),
        options.latencyLimitMs,
      );
    if (round < MIN_ROUNDS) continue;
    ranking = rank(trials, options.latencyLimitMs);
    if (!ranking || ranking.contenders.length === 1) return ranking;
    contenders = new Set(ranking.contenders.map(({ label }) => label));
  }
  return ranking;
}

/** The trials that may follow this round: its contenders again, then the rounds of the next plans. */
export function trialsAfter(round: number, numContenders: number, numNextPlans: number): Range {
  const toMin = Math.max(0, MIN_ROUNDS - round) * numContenders;
  const toMax = (MAX_ROUNDS - round) * numContenders;
  // If all rounds show no difference between these, the next plans are left out.
  return {
    least: Math.min(toMax, toMin + MIN_ROUNDS * numNextPlans),
    most: toMax + MAX_ROUNDS * numNextPlans,
  };
}

/** @throws OverrideHeldError while another load test sets the policy, and OverrideEndedError when the policy is lost in a run. */
export async function runAll(
  target: LoadTarget,
  plans: readonly Plan[],
  options: ExperimentOptions,
): Promise<void> {
  const { signal, override, latencyLimitMs, recorder, keepsSlots, onStart, onProgress, onTrial } = options;
  const runSignal = override ? AbortSignal.any([signal, override.signal]) : signal;
  for (const [index, { label, trace, plannedMs, knobs, rate }] of plans.entries()) {
    if (signal.aborted) break;
    const later = plans.slice(index + 1);
    const laterMs = later.reduce((sum, plan) => sum + plan.plannedMs, 0);
    onStart({
      label,
      plannedMs,
      numLater: { least: later.length, most: later.length },
      laterMs: { least: laterMs, most: laterMs },
    });
    const policy = (knobs && (await override?.change(knobs))) ?? target.knobs();
    recorder?.begin();
    const startedAtMs = performance.now();
    const requestIds: RequestId[] = [];
    const onSubmitted = (requestId: RequestId): void => {
      requestIds.push(requestId);
      recorder?.add(requestId);
    };
    const run = await new LoadSender(target, trace, { signal: runSignal, onSubmitted, onProgress }).run();
    const bars = (keepsSlots && (await recorder?.barsOf(requestIds, runSignal))) || [];
    override?.signal.throwIfAborted();
    const summary = summarize(run, latencyLimitMs);
    const slots = keepsSlots && recorder && { slots: { startedAtMs, requestIds, bars } };
    onTrial({ label, policy, trace, run, summary, rate, ...slots });
  }
}
