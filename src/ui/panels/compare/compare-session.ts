import type { PolicyName, PolicyOverride, TabserveClient } from '../../../client/index.ts';
import { Comparison } from '../trials/run-trials.ts';
import { measurePrompts, withSeeds, type PromptTrial } from '../trials/measure-prompts.ts';
import { POLICY_NAMES } from '../policy/policy-texts.ts';
import type { ServeStore } from '../../state/serve-store.ts';
import { comparedTexts } from './compare-texts.ts';
import type { ComparedPrompt, Measured } from './compared-prompts.ts';

/** Sends the same prompts under each policy, one policy after the other. */
export function comparePolicies(
  serve: TabserveClient,
  store: ServeStore,
  prompts: readonly ComparedPrompt[],
  signal: AbortSignal,
) {
  const seeded = withSeeds(prompts);
  const comparison = new Comparison<PolicyName, PolicyOverride, PromptTrial>({
    plans: POLICY_NAMES,
    override: () => serve.overridePolicy(),
    signal,
    run: async (policy, stop, override): Promise<PromptTrial> => {
      await override?.change({ policy });
      return measurePrompts(policy, seeded, { serve, store, signal: stop, onDone: comparison.showProgress });
    },
  });
  return comparison;
}

/** The times, if every policy has run and no request failed. */
export function measuredOf(trials: readonly PromptTrial[]): Measured | undefined {
  const [off, , continuous] = trials;
  if (!off || !continuous || trials.some((trial) => comparedTexts(trial).includes(undefined)))
    return undefined;
  const [alone, together] = [comparedTexts(off), comparedTexts(continuous)];
  return {
    togetherMs: continuous.durationMs,
    oneAtATimeMs: off.durationMs,
    hasSameTexts: alone.every((text, index) => text === together[index]),
  };
}
