import type { RequestId } from '../../../client/index.ts';
import { createTrace } from './create-trace.ts';
import type { Mode } from './load-form.ts';
import { POLICY_NAMES } from '../policy/policy-texts.ts';
import { plannedMsOf, type TrialStart } from './plan-time.ts';
import { LoadSender, type LoadProgress } from './load-sender.ts';
import type { LoadTarget, TrialKnobs } from './load-target.ts';
import type { Scenario, Trace } from './scenario.ts';
import { summarize, type Trial } from './summarize.ts';
import { runTrials } from '../trials/run-trials.ts';
import type { TrialRecorder } from '../trials/trial-slots.ts';

interface ExperimentOptions {
  readonly signal: AbortSignal;
  /** Whether the runs have knobs of their own. */
  readonly setsKnobs: boolean;
  /** The time from arrival to end that a request may take, ms. */
  readonly latencyLimitMs: number;
  /** Records slots; undefined where there are none. */
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
export function plansOf(mode: Mode, scenario: Scenario | undefined, trace: Trace): readonly Plan[] {
  const plannedMs = plannedMsOf(trace, scenario);
  if (mode === 'run') return [{ label: 'run', trace, plannedMs }];
  if (mode === 'compare')
    return POLICY_NAMES.map((policy) => ({ label: policy, knobs: { policy }, trace, plannedMs }));
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

/** @throws OverrideHeldError while another load test sets the policy, and OverrideEndedError when the policy is lost in a run. */
export async function runAll(
  target: LoadTarget,
  plans: readonly Plan[],
  options: ExperimentOptions,
): Promise<void> {
  const { signal, setsKnobs, latencyLimitMs, recorder, keepsSlots, onStart, onProgress, onTrial } = options;
  await runTrials({
    plans,
    override: setsKnobs ? target.override : undefined,
    signal,
    run: async (plan, stop, override): Promise<Trial> => {
      const { label, trace, plannedMs, knobs, rate } = plan;
      const later = plans.slice(plans.indexOf(plan) + 1);
      const laterMs = later.reduce((sum, next) => sum + next.plannedMs, 0);
      onStart({ label, plannedMs, numLater: later.length, laterMs });
      const policy = (knobs && (await override?.change(knobs))) ?? target.knobs();
      recorder?.begin();
      const startedAtMs = performance.now();
      const requestIds: RequestId[] = [];
      const onSubmitted = (requestId: RequestId): void => {
        requestIds.push(requestId);
        recorder?.add(requestId);
      };
      const run = await new LoadSender(target, trace, { signal: stop, onSubmitted, onProgress }).run();
      const bars = (keepsSlots && (await recorder?.barsOf(requestIds, stop))) || [];
      const summary = summarize(run, latencyLimitMs);
      const slots = keepsSlots && recorder && { slots: { startedAtMs, requestIds, bars } };
      return { label, policy, trace, run, summary, rate, ...slots };
    },
    onTrial,
  });
}
