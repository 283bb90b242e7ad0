import {
  TEXT_GENERATOR,
  type GenerationOptions,
  type GenerationResult,
  type ServedModel,
  type TabserveClient,
  type WireError,
  percentilesOf,
} from '../../../client/index.ts';
import { formatMs, formatNumber, formatSeconds, NO_VALUE } from '../../parts/format.ts';
import { toWireError } from '../../parts/to-wire-error.ts';
import { stepsBetween } from '../../state/run-summary.ts';
import { spanOf } from '../../state/run.ts';
import type { ServeStore } from '../../state/serve-store.ts';
import type { TracedStep } from '../../state/slot-history.ts';
import type { PolicyTrial } from './policy-multiples.tsx';
import { createTrialRecorder } from './trial-slots.ts';

/** What became of a prompt in a trial. */
export interface PromptOutcome {
  /** Its continuations; none where it failed. */
  readonly texts: readonly string[];
  /** Why it failed. */
  readonly error?: WireError;
  /** Undefined where no model began it. */
  readonly model: ServedModel | undefined;
}

export interface PromptTrial extends PolicyTrial {
  /** In the order of the prompts. */
  readonly outcomes: readonly PromptOutcome[];
}

interface SeededPrompt {
  readonly prompt: string;
  readonly options: GenerationOptions;
  readonly seed: number;
}

interface Measuring {
  readonly serve: TabserveClient;
  readonly store: ServeStore;
  readonly signal: AbortSignal;
  readonly onDone: (label: string, numDone: number) => void;
}

/** The same prompts for all trials, which so draw the same tokens. */
export function withSeeds<Given extends { readonly seed: number | undefined }>(prompts: readonly Given[]) {
  return prompts.map((prompt) => ({ ...prompt, seed: prompt.seed ?? randomSeed() }));
}

/** Sends all prompts at once, and measures them until the last one has ended. */
export async function measurePrompts(
  label: string,
  prompts: readonly SeededPrompt[],
  { serve, store, signal, onDone }: Measuring,
): Promise<PromptTrial> {
  let numDone = 0;
  onDone(label, numDone);
  const generator = serve.getHandle(TEXT_GENERATOR);
  const recorder = createTrialRecorder(store);
  recorder.begin();
  const sentAtMs = performance.now();
  const responses = prompts.map(({ prompt, options, seed }) => {
    const response = generator.remote(prompt, { ...options, seed, signal });
    recorder.add(response.requestId);
    return response;
  });
  const settled = await Promise.allSettled(
    responses.map(async (response) => {
      const result = await response.result();
      numDone += 1;
      onDone(label, numDone);
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
  const steps = stepsBetween(store.history.slots.steps, startedAtMs, startedAtMs + durationMs);
  const results = settled.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []));
  const outcomes = settled.map((outcome, index): PromptOutcome => {
    const model = responses[index]?.model;
    if (outcome.status === 'rejected') return { texts: [], error: toWireError(outcome.reason), model };
    return { texts: outcome.value.choices.map(({ generatedText }) => generatedText), model };
  });
  const figures = figuresOf(results, steps, durationMs);
  return { label, startedAtMs, durationMs, requestIds, bars, figures, outcomes };
}

/** Its place is kept until it has run. */
export function emptyTrial(label: string): PolicyTrial {
  const figures = ['Total', 'Tokens/s', 'TTFT p50', 'Peak batch'].map((name) => ({ name, value: NO_VALUE }));
  return { label, startedAtMs: 0, durationMs: 0, requestIds: [], bars: [], figures };
}

function figuresOf(
  results: readonly GenerationResult[],
  steps: readonly TracedStep[],
  durationMs: number,
): PolicyTrial['figures'] {
  const numTokens = results.reduce((sum, { usage }) => sum + usage.numOutputTokens, 0);
  const ttfts = percentilesOf(results.map(({ timings }) => timings.ttftMs));
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
