import { createStore } from 'zustand/vanilla';

import {
  TEXT_GENERATOR,
  type GenerationResult,
  type PolicyName,
  type PolicyOverride,
  type TabserveClient,
  type WireError,
} from '../../../client/index.ts';
import { formatMs, formatNumber, formatSeconds, NO_VALUE } from '../../parts/format.ts';
import { createTrialRecorder } from '../trials/trial-slots.ts';
import { POLICY_NAMES } from '../policy/policy-texts.ts';
import { stepsBetween } from '../../state/run-summary.ts';
import { spanOf } from '../../state/run.ts';
import { percentilesOf } from '../../state/percentiles.ts';
import type { ServeStore } from '../../state/serve-store.ts';
import type { TracedStep } from '../../state/slot-history.ts';
import { toWireError } from '../../parts/to-wire-error.ts';
import type { ComparedText } from './compare-texts.ts';
import type { ComparedPrompt, Measured } from './compared-prompts.ts';
import type { PolicyTrial } from '../trials/policy-multiples.tsx';

interface ComparedTrial extends PolicyTrial {
  readonly texts: readonly ComparedText[];
}

export interface CompareView {
  readonly isRunning: boolean;
  readonly progress?: { readonly policy: PolicyName; readonly numDone: number } | undefined;
  /** In the order of `POLICY_NAMES`. */
  readonly trials: readonly ComparedTrial[];
  readonly error?: WireError | undefined;
}

/** Sends the same prompts under each policy, one policy after the other. */
export class CompareSession {
  readonly store = createStore<CompareView>(() => ({ isRunning: true, trials: [] }));
  readonly #serve: TabserveClient;
  readonly #serveStore: ServeStore;
  /** With a seed each, so that all trials draw the same tokens. */
  readonly #prompts: readonly (ComparedPrompt & { readonly seed: number })[];
  readonly #signal: AbortSignal;
  #isStarted = false;

  constructor(
    serve: TabserveClient,
    serveStore: ServeStore,
    prompts: readonly ComparedPrompt[],
    signal: AbortSignal,
  ) {
    this.#serve = serve;
    this.#serveStore = serveStore;
    this.#prompts = prompts.map((prompt) => ({ ...prompt, seed: prompt.seed ?? randomSeed() }));
    this.#signal = signal;
  }

  /** Does nothing at a second call. @param onMeasured Gets the times, if no request failed. */
  async start(onMeasured: (measured: Measured) => void): Promise<void> {
    if (this.#isStarted) return;
    this.#isStarted = true;
    let override: PolicyOverride | undefined;
    try {
      override = await this.#serve.overridePolicy();
      for (const policy of POLICY_NAMES) {
        if (this.#signal.aborted) break;
        await override.change({ policy });
        const trial = await this.#run(policy, AbortSignal.any([this.#signal, override.signal]));
        if (this.#signal.aborted) break;
        override.signal.throwIfAborted();
        this.store.setState(({ trials }) => ({ trials: [...trials, trial] }));
      }
      const { trials } = this.store.getState();
      const [off, , continuous] = trials;
      const isMeasured = off && continuous && !trials.some(({ texts }) => texts.includes(undefined));
      if (isMeasured)
        onMeasured({
          togetherMs: continuous.durationMs,
          oneAtATimeMs: off.durationMs,
          hasSameTexts: off.texts.every((text, index) => text === continuous.texts[index]),
        });
    } catch (caught) {
      this.store.setState({ error: toWireError(caught) });
    } finally {
      await override?.release();
      this.store.setState({ isRunning: false, progress: undefined });
    }
  }

  async #run(policy: PolicyName, signal: AbortSignal): Promise<ComparedTrial> {
    let numDone = 0;
    this.store.setState({ progress: { policy, numDone } });
    const generator = this.#serve.getHandle(TEXT_GENERATOR);
    const recorder = createTrialRecorder(this.#serveStore);
    recorder.begin();
    const sentAtMs = performance.now();
    const responses = this.#prompts.map(({ prompt, options, seed }) => {
      const response = generator.remote(prompt, { ...options, seed, signal });
      recorder.add(response.requestId);
      return response;
    });
    const outcomes = await Promise.allSettled(
      responses.map(async (response) => {
        const result = await response.result();
        numDone += 1;
        this.store.setState({ progress: { policy, numDone } });
        return result;
      }),
    );
    const endedAtMs = performance.now();
    const requestIds = responses.map(({ requestId }) => requestId);
    const bars = await recorder.barsOf(requestIds, signal);
    // The worker's own times, which the page's delays don't change.
    const span = spanOf(bars) ?? { startedAtMs: sentAtMs, endedAtMs };
    const { startedAtMs } = span;
    const durationMs = (span.endedAtMs ?? endedAtMs) - startedAtMs;
    const steps = stepsBetween(this.#serveStore.history.slots.steps, startedAtMs, startedAtMs + durationMs);
    const results = outcomes.map((outcome) => (outcome.status === 'fulfilled' ? outcome.value : undefined));
    const texts = results.map(
      (result) => result && JSON.stringify(result.choices.map(({ generatedText }) => generatedText)),
    );
    const figures = figuresOf(results, steps, durationMs);
    return { label: policy, startedAtMs, durationMs, requestIds, bars, figures, texts };
  }
}

function figuresOf(
  results: readonly (GenerationResult | undefined)[],
  steps: readonly TracedStep[],
  durationMs: number,
): PolicyTrial['figures'] {
  const finished = results.filter((result) => result !== undefined);
  const numTokens = finished.reduce((sum, { usage }) => sum + usage.numOutputTokens, 0);
  const ttfts = percentilesOf(finished.map(({ timings }) => timings.ttftMs));
  const peak = Math.max(...steps.map(({ batchSize }) => batchSize));
  return [
    { name: 'Total', value: formatSeconds(durationMs) },
    { name: 'Tokens/s', value: formatNumber((numTokens * 1000) / durationMs) },
    { name: 'TTFT p50', value: formatMs(ttfts?.p50) },
    { name: 'Peak batch', value: steps.length > 0 ? String(peak) : NO_VALUE },
  ];
}

function randomSeed(): number {
  return crypto.getRandomValues(new Uint32Array(1))[0] ?? 0;
}
