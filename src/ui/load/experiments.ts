import type { Serve } from '../../worker/client.ts';
import type { BatchingPolicy, PolicyName } from '../../worker/protocol.ts';
import type { PolicyHold } from './policy-hold.ts';
import type { RateSweep } from './rate-sweep.ts';
import { runLoad } from './run-load.ts';
import type { LoadProgress, LoadRun } from './run-load.ts';
import type { Trace } from './scenario.ts';
import { summarize } from './summarize.ts';
import type { LoadSummary } from './summarize.ts';

/** One run among those that are compared. */
export interface Trial {
  readonly label: string;
  /** In force during the run. */
  readonly policy: BatchingPolicy;
  /** Of a rate sweep: requests per second. */
  readonly rate?: number;
  readonly trace: Trace;
  readonly run: LoadRun;
  readonly summary: LoadSummary;
}

export interface ExperimentOptions {
  readonly signal: AbortSignal;
  /** Sets the policy of the runs. Its creator releases it. */
  readonly hold: PolicyHold;
  /** Requests should be over so many ms after their arrival. */
  readonly latencyLimitMs: number;
  readonly onProgress: (label: string, progress: LoadProgress) => void;
  /** After each run, in order. */
  readonly onTrial: (trial: Trial) => void;
}

interface Plan {
  readonly label: string;
  readonly trace: Trace;
  readonly knobs: Partial<BatchingPolicy>;
  readonly rate?: number;
}

/** One run as things are. */
export function runOnce(serve: Serve, trace: Trace, options: ExperimentOptions): Promise<readonly Trial[]> {
  return runAll(serve, [{ label: 'run', trace, knobs: {} }], options);
}

const POLICIES: readonly PolicyName[] = ['off', 'static', 'continuous'];

/** The same trace under each policy, with all other knobs as they are. */
export function comparePolicies(
  serve: Serve,
  trace: Trace,
  options: ExperimentOptions,
): Promise<readonly Trial[]> {
  const plans = POLICIES.map((policy) => ({ label: policy, trace, knobs: { policy } }));
  return runAll(serve, plans, options);
}

/** Of the load's own rate. */
const RATE_FACTORS: readonly number[] = [0.25, 0.5, 1, 1.5, 2, 3];

/** The same load at rates around its own: how far throughput goes, and what latency pays for it. */
export function sweepRates(
  serve: Serve,
  { baseRate, traceAt }: RateSweep,
  options: ExperimentOptions,
): Promise<readonly Trial[]> {
  const plans = RATE_FACTORS.map((factor) => {
    const rate = baseRate * factor;
    return { label: `${Number(rate.toPrecision(3))}/s`, rate, trace: traceAt(factor), knobs: {} };
  });
  return runAll(serve, plans, options);
}

const BATCH_SIZES: readonly number[] = [1, 2, 4, 8, 16];
const BATCH_WAITS_MS: readonly number[] = [5, 20, 50];

/**
 * Looks for the batch size that serves a trace best, then for the wait that serves it best at that size. Where batching is off,
 * neither would change anything: then under `continuous`.
 */
export async function sweepKnobs(
  serve: Serve,
  trace: Trace,
  options: ExperimentOptions,
): Promise<readonly Trial[]> {
  const before = serve.status().policy.policy;
  const policy = before === 'off' ? 'continuous' : before;
  const planOf = (maxBatchSize: number, batchWaitTimeoutMs: number): Plan => ({
    label: `${maxBatchSize} / ${batchWaitTimeoutMs} ms`,
    trace,
    knobs: { policy, maxBatchSize, batchWaitTimeoutMs },
  });
  const sizes = await runAll(
    serve,
    BATCH_SIZES.map((size) => planOf(size, 0)),
    options,
  );
  const bestSize = suggest(sizes, options.latencyLimitMs)?.policy.maxBatchSize;
  if (bestSize === undefined || options.signal.aborted) return sizes;
  const waits = await runAll(
    serve,
    BATCH_WAITS_MS.map((waitMs) => planOf(bestSize, waitMs)),
    options,
  );
  return [...sizes, ...waits];
}

/**
 * Of the trials whose p95 keeps the limit, the one with the most goodput; where none does, the one that comes closest. Of equals the
 * first, which has the smaller batch or the shorter wait. None where requests were stopped: the others were served without them.
 */
export function suggest(trials: readonly Trial[], latencyLimitMs: number): Trial | undefined {
  if (trials.some(({ summary }) => summary.numCancelled > 0)) return undefined;
  const p95 = ({ summary }: Trial): number => summary.e2eMs?.p95 ?? Infinity;
  const keeping = trials.filter((trial) => p95(trial) <= latencyLimitMs);
  if (keeping.length === 0) return trials.toSorted((a, b) => p95(a) - p95(b))[0];
  return keeping.toSorted((a, b) => b.summary.goodputPerSecond - a.summary.goodputPerSecond)[0];
}

/** One after another. */
async function runAll(
  serve: Serve,
  plans: readonly Plan[],
  { signal, hold, latencyLimitMs, onProgress, onTrial }: ExperimentOptions,
): Promise<readonly Trial[]> {
  const trials: Trial[] = [];
  for (const { label, trace, knobs, rate } of plans) {
    if (signal.aborted) break;
    const policy = await hold.apply(knobs);
    const run = await runLoad(serve, trace, {
      signal: hold.during(signal),
      onProgress: (progress) => onProgress(label, progress),
    });
    hold.throwIfLost();
    const summary = summarize(run, latencyLimitMs);
    const trial = { label, policy, trace, run, summary, ...(rate !== undefined && { rate }) };
    trials.push(trial);
    onTrial(trial);
  }
  return trials;
}
