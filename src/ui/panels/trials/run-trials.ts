import { createStore, type StoreApi } from 'zustand/vanilla';

import type { WireError } from '../../../client/index.ts';
import { toWireError } from '../../parts/to-wire-error.ts';

/** Knobs that are set for a test. The users' own are in force again after its release, or the end of this tab. */
export interface TrialOverride<Knobs, Applied = unknown> {
  /** Aborts, with the reason, where the knobs are lost. */
  readonly signal: AbortSignal;
  readonly change: (knobs: Knobs) => Promise<Applied>;
  readonly release: () => Promise<unknown>;
}

interface Trials<Plan, Override, Trial> {
  readonly plans: readonly Plan[];
  /** Left out where the users' own knobs are measured. */
  readonly override?: (() => Promise<Override>) | undefined;
  /** Stops the trial that runs, and leaves out those after it. */
  readonly signal: AbortSignal;
  /** Sets the knobs of the plan and measures. The signal aborts where the test is stopped or its knobs are lost. */
  readonly run: (plan: Plan, signal: AbortSignal, override: Override | undefined) => Promise<Trial>;
  readonly onTrial: (trial: Trial) => void;
}

/** Runs one trial after the other. @throws The reason where the knobs are refused or lost: then the trial that ran doesn't count. */
export async function runTrials<Plan, Override extends TrialOverride<never>, Trial>({
  plans,
  override,
  signal,
  run,
  onTrial,
}: Trials<Plan, Override, Trial>): Promise<void> {
  const held = await override?.();
  const stop = held ? AbortSignal.any([signal, held.signal]) : signal;
  try {
    for (const plan of plans) {
      if (signal.aborted) return;
      const trial = await run(plan, stop, held);
      held?.signal.throwIfAborted();
      onTrial(trial);
    }
  } finally {
    await held?.release();
  }
}

export interface ComparisonView<Trial> {
  readonly isRunning: boolean;
  readonly progress: { readonly label: string; readonly numDone: number } | undefined;
  readonly trials: readonly Trial[];
  readonly error: WireError | undefined;
}

/** The state of a comparison, for its panel. */
export class Comparison<Plan, Override extends TrialOverride<never>, Trial> {
  readonly store: StoreApi<ComparisonView<Trial>> = createStore(() => ({
    isRunning: true,
    progress: undefined,
    trials: [],
    error: undefined,
  }));
  readonly #trials: Omit<Trials<Plan, Override, Trial>, 'onTrial'>;
  #isStarted = false;

  constructor(trials: Omit<Trials<Plan, Override, Trial>, 'onTrial'>) {
    this.#trials = trials;
  }

  /** Does nothing at a second call. @param onEnd Gets the trials that were measured. */
  async start(onEnd?: (trials: readonly Trial[]) => void): Promise<void> {
    if (this.#isStarted) return;
    this.#isStarted = true;
    await this.#run();
    onEnd?.(this.store.getState().trials);
  }

  readonly showProgress = (label: string, numDone: number): void => {
    this.store.setState({ progress: { label, numDone } });
  };

  async #run(): Promise<void> {
    const { signal } = this.#trials;
    try {
      await runTrials({
        ...this.#trials,
        onTrial: (trial) => {
          // A trial that was stopped measured nothing.
          if (!signal.aborted) this.store.setState(({ trials }) => ({ trials: [...trials, trial] }));
        },
      });
    } catch (caught) {
      if (!signal.aborted) this.store.setState({ error: toWireError(caught) });
    } finally {
      this.store.setState({ isRunning: false, progress: undefined });
    }
  }
}
