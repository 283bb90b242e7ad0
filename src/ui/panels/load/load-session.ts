import { createStore, type StoreApi } from 'zustand/vanilla';
import { TEXT_GENERATOR, type WireError } from '../../../client/index.ts';
import { toWireError } from '../../parts/to-wire-error.ts';
import { createTrace } from './create-trace.ts';
import { plansOf, rateOf, runAll } from './experiments.ts';
import type { Trial } from './summarize.ts';
import { parseLoadForm, type LoadErrors, type LoadForm, type Mode } from './load-form.ts';
import {
  estimatePlan,
  NOTHING_ENDED,
  type EndedTrials,
  type PlanProgress,
  type TrialStart,
} from './plan-time.ts';
import type { LoadProgress } from './load-sender.ts';
import type { LoadedDeployment, LoadTarget } from './load-target.ts';
import { type Scenario, type Trace, traceSchema } from './scenario.ts';
import type { TrialRecorder } from '../trials/trial-slots.ts';
import * as v from 'valibot';
import { noArrivalTimes, noTrace } from './trace-errors.ts';

export interface LoadResults {
  readonly deployment: LoadedDeployment;
  readonly mode: Mode;
  /** Undefined for a replay. */
  readonly scenario: Scenario | undefined;
  readonly latencyLimitMs: number;
  readonly trials: readonly Trial[];
}

export interface LoadView {
  readonly form: LoadForm;
  readonly errors: LoadErrors;
  readonly loadedTrace?: { readonly name: string; readonly trace: Trace } | undefined;
  readonly isRunning: boolean;
  readonly progress?: TestProgress | undefined;
  readonly results?: LoadResults | undefined;
  readonly error?: WireError | undefined;
}

/** The counts are those of the running trial. */
export type TestProgress = Omit<LoadProgress, 'elapsedMs'> & PlanProgress;

const PROGRESS_INTERVAL_MS = 200;

/** The load lab's state. It is outside React, so that a run with hundreds of requests renders a few times a second. */
export class LoadSession {
  readonly store: StoreApi<LoadView>;
  readonly target: LoadTarget;
  readonly #recorder: TrialRecorder | undefined;
  /** Stops the running test. */
  #abort = new AbortController();
  #shownAtMs = -Infinity;
  #trial: TrialStart | undefined;
  #ended: EndedTrials = NOTHING_ENDED;

  constructor(target: LoadTarget, recorder: TrialRecorder | undefined, form: LoadForm) {
    this.target = target;
    this.#recorder = recorder;
    this.store = createStore<LoadView>(() => ({ form, errors: {}, isRunning: false }));
  }

  change(change: Partial<LoadForm>): void {
    this.store.setState(({ form }) => ({ form: { ...form, ...change } }));
  }

  check(): void {
    this.store.setState(({ form }) => ({ errors: this.#parse(form).errors }));
  }

  async loadTraceFile(file: File): Promise<void> {
    try {
      const trace = parseTraceFile(await file.text());
      this.store.setState({ loadedTrace: { name: file.name, trace }, error: undefined });
    } catch (caught) {
      this.store.setState({
        loadedTrace: undefined,
        error: { ...noTrace(), message: toWireError(caught).message },
      });
    }
  }

  stop(): void {
    this.#abort.abort();
  }

  /** Resolves when the test has ended, whatever its result. */
  async start(): Promise<void> {
    const { form, loadedTrace, isRunning } = this.store.getState();
    const { mode, arrivals } = form;
    const parsed = this.#parse(form);
    const { errors, latencyLimitMs } = parsed;
    const replayed = arrivals === 'replay' ? loadedTrace?.trace : undefined;
    const error = arrivals === 'replay' ? refusalOf(mode, replayed) : undefined;
    this.store.setState({ errors, error });
    if (isRunning || error || Object.keys(errors).length > 0) return;
    const scenario = replayed ? undefined : parsed.scenario;
    const { deployment } = this.target;
    const results = { deployment, mode, scenario, latencyLimitMs, trials: [] };
    this.#abort = new AbortController();
    this.#ended = NOTHING_ENDED;
    this.store.setState({ isRunning: true, results, progress: undefined });
    try {
      await this.#run(results, replayed ?? createTrace(parsed.scenario));
    } catch (caught) {
      this.store.setState({ error: toWireError(caught) });
    } finally {
      this.store.setState({ isRunning: false, progress: undefined });
    }
  }

  async #run({ mode, scenario, latencyLimitMs }: LoadResults, trace: Trace): Promise<void> {
    await runAll(this.target, plansOf(mode, scenario, trace), {
      signal: this.#abort.signal,
      setsKnobs: mode === 'compare',
      latencyLimitMs,
      recorder: this.#recorder,
      keepsSlots: mode !== 'sweep',
      onStart: (start) => {
        this.#trial = start;
        this.#shownAtMs = -Infinity;
      },
      onProgress: (progress) => this.#showProgress(progress),
      onTrial: (trial) => this.#keep(trial),
    });
  }

  #parse(form: LoadForm) {
    const { deployment, knobs } = this.target;
    return parseLoadForm(form, knobs().maxBatchSize, deployment === TEXT_GENERATOR);
  }

  #keep(trial: Trial): void {
    const { num, plannedMs, tookMs } = this.#ended;
    this.#ended = {
      num: num + 1,
      plannedMs: plannedMs + (this.#trial?.plannedMs ?? 0),
      tookMs: tookMs + trial.run.durationMs,
    };
    this.store.setState(({ results }) => ({
      results: results && { ...results, trials: [...results.trials, trial] },
    }));
  }

  #showProgress(progress: LoadProgress): void {
    if (!this.#trial) return;
    const nowMs = performance.now();
    if (nowMs - this.#shownAtMs < PROGRESS_INTERVAL_MS) return;
    this.#shownAtMs = nowMs;
    this.store.setState({ progress: { ...progress, ...estimatePlan(this.#trial, this.#ended, progress) } });
  }
}

/** Why a trace cannot be replayed in this mode. */
function refusalOf(mode: Mode, trace: Trace | undefined): WireError | undefined {
  if (!trace) return noTrace();
  return mode === 'sweep' && rateOf(trace) === 0 ? noArrivalTimes() : undefined;
}

/** The file of a load test. A run without a trace sent the file's own. */
export function exportLoad({ trials, ...results }: LoadResults, target: Pick<LoadTarget, 'describe'>) {
  const trace = trials[0]?.trace;
  return {
    ...results,
    ...target.describe(),
    trace,
    trials: trials.map(({ trace: own, slots: _slots, ...trial }) =>
      own === trace ? trial : { ...trial, trace: own },
    ),
  };
}

/** An export of this page, or a bare trace. */
const fileSchema = v.union([
  v.pipe(
    v.object({ trace: traceSchema }),
    v.transform(({ trace }) => trace),
  ),
  traceSchema,
]);

/** @throws Error that says what is wrong with the file. */
export function parseTraceFile(text: string): Trace {
  const result = v.safeParse(v.pipe(v.string(), v.parseJson(), fileSchema), text);
  if (!result.success) {
    throw new Error('The file holds no trace: choose one that was exported here, as JSON.');
  }
  const { requests } = result.output;
  return { ...result.output, requests: requests.toSorted((a, b) => a.atMs - b.atMs) };
}
