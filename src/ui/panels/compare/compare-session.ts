import {
  TEXT_GENERATOR,
  type GenerationResult,
  type PolicyName,
  type PolicyOverride,
  type TabserveClient,
  percentilesOf,
} from '../../../client/index.ts';
import { formatMs, formatNumber, formatSeconds, NO_VALUE } from '../../parts/format.ts';
import { Comparison } from '../trials/run-trials.ts';
import { createTrialRecorder } from '../trials/trial-slots.ts';
import { POLICY_NAMES } from '../policy/policy-texts.ts';
import { stepsBetween } from '../../state/run-summary.ts';
import { spanOf } from '../../state/run.ts';
import type { ServeStore } from '../../state/serve-store.ts';
import type { TracedStep } from '../../state/slot-history.ts';
import type { ComparedText } from './compare-texts.ts';
import type { ComparedPrompt, Measured } from './compared-prompts.ts';
import type { PolicyTrial } from '../trials/policy-multiples.tsx';

export interface ComparedTrial extends PolicyTrial {
  readonly texts: readonly ComparedText[];
}

/** Sends the same prompts under each policy, one policy after the other. */
export function comparePolicies(
  serve: TabserveClient,
  store: ServeStore,
  prompts: readonly ComparedPrompt[],
  signal: AbortSignal,
) {
  // All trials draw the same tokens.
  const seeded = prompts.map((prompt) => ({ ...prompt, seed: prompt.seed ?? randomSeed() }));
  const comparison = new Comparison<PolicyName, PolicyOverride, ComparedTrial>({
    plans: POLICY_NAMES,
    override: () => serve.overridePolicy(),
    signal,
    run: async (policy, stop, override): Promise<ComparedTrial> => {
      await override?.change({ policy });
      return measure(policy, seeded, { serve, store, signal: stop, onDone: comparison.showProgress });
    },
  });
  return comparison;
}

/** The times, if every policy has run and no request failed. */
export function measuredOf(trials: readonly ComparedTrial[]): Measured | undefined {
  const [off, , continuous] = trials;
  if (!off || !continuous || trials.some(({ texts }) => texts.includes(undefined))) return undefined;
  return {
    togetherMs: continuous.durationMs,
    oneAtATimeMs: off.durationMs,
    hasSameTexts: off.texts.every((text, index) => text === continuous.texts[index]),
  };
}

interface Measuring {
  readonly serve: TabserveClient;
  readonly store: ServeStore;
  readonly signal: AbortSignal;
  readonly onDone: (policy: PolicyName, numDone: number) => void;
}

async function measure(
  policy: PolicyName,
  prompts: readonly ComparedPrompt[],
  { serve, store, signal, onDone }: Measuring,
): Promise<ComparedTrial> {
  let numDone = 0;
  onDone(policy, numDone);
  const generator = serve.getHandle(TEXT_GENERATOR);
  const recorder = createTrialRecorder(store);
  recorder.begin();
  const sentAtMs = performance.now();
  const responses = prompts.map(({ prompt, options, seed }) => {
    const response = generator.remote(prompt, { ...options, seed, signal });
    recorder.add(response.requestId);
    return response;
  });
  const outcomes = await Promise.allSettled(
    responses.map(async (response) => {
      const result = await response.result();
      numDone += 1;
      onDone(policy, numDone);
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
  const results = outcomes.map((outcome) => (outcome.status === 'fulfilled' ? outcome.value : undefined));
  const texts = results.map(
    (result) => result && JSON.stringify(result.choices.map(({ generatedText }) => generatedText)),
  );
  const figures = figuresOf(results, steps, durationMs);
  return { label: policy, startedAtMs, durationMs, requestIds, bars, figures, texts };
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
