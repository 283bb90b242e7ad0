import type { BatchingPolicy, PolicyName } from '../../../src/protocol/status.ts';
import { SAMPLE_PROMPTS } from '../../../src/ui/state/composer/sample-prompts.ts';
import { smollm2Prompts } from '../smollm2.ts';
import type { PageRequest, Play } from './play-in-page.ts';

/** In a shorter time, a row is mostly noise and ends before the page draws. */
export const SUSTAINED_MS = 2000;

/**
 * A batch of this size starts as soon as all of it has arrived, whatever the policy. The same prompts come again in each round:
 * prefix caching would spare their prefill.
 */
export function knobsOf(policy: PolicyName, numRequests: number): Partial<BatchingPolicy> {
  return { policy, maxBatchSize: numRequests, batchWaitTimeoutMs: 1000, prefixCaching: false };
}

/** The same requests for every policy; greedy, so that they are the same texts in every round too. */
export function sampleRequests(numRequests: number, maxNewTokens: number): PageRequest[] {
  return Array.from({ length: numRequests }, (_, index) => ({
    prompt: SAMPLE_PROMPTS[index % 8] ?? '',
    options: { temperature: 0, maxNewTokens },
  }));
}

export function realRequests(numPromptTokens: number, count: number, maxNewTokens: number): PageRequest[] {
  const options = { temperature: 0, maxNewTokens, ignoreEos: true };
  return smollm2Prompts(numPromptTokens, count).map(({ prompt }) => ({ prompt, options }));
}

/** While a text runs, four prompts of 200 tokens arrive. Every round generates the same number of tokens. */
export function latePrompts(prefillStallMs: BatchingPolicy['prefillStallMs'], maxNewTokens: number): Play {
  const numLate = 4;
  const knobs = { ...knobsOf('continuous', 1 + numLate), batchWaitTimeoutMs: 0, prefillStallMs };
  return {
    knobs,
    requests: realRequests(40, 1, 120),
    late: { afterTokens: 16, requests: realRequests(200, numLate, maxNewTokens) },
    leastMs: 0,
  };
}
