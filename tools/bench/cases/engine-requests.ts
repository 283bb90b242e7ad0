import type { BatchingPolicy, PolicyName } from '../../../src/protocol/status.ts';
import { SAMPLE_PROMPTS } from '../../../src/ui/state/composer/sample-prompts.ts';
import { smollm2Prompts } from '../smollm2.ts';
import type { PageRequest, Play } from './play-in-page.ts';

/** In a shorter time, a row is mostly noise and ends before the page draws. */
export const SUSTAINED_MS = 2000;

/** The number of requests at which policies and shapes are compared. */
export const COMPARED_SIZE = 8;

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
    prompt: SAMPLE_PROMPTS[index % COMPARED_SIZE] ?? '',
    options: { temperature: 0, maxNewTokens },
  }));
}

/** Requests of prompts so long that the texts grow to this length. Every word is a token. */
export function growingRequests(contextLength: number): PageRequest[] {
  const words = 'the little dog ran to a big red house and saw'.split(' ');
  const numWords = contextLength - 33;
  const promptOf = (request: number): string =>
    Array.from({ length: numWords }, (_, index) => words[(index + request) % words.length]).join(' ');
  return Array.from({ length: COMPARED_SIZE }, (_, request) => ({
    prompt: promptOf(request),
    // At a high temperature, none ends early.
    options: { temperature: 5, seed: request, maxNewTokens: 32 },
  }));
}

/** It has more tokens than any request generates, so that rows with and without it are as long. */
const SCHEMA = { type: 'array', items: { type: 'string' }, minItems: 200 };

/** Requests of which the first ones have a shape. */
export function shapedRequests(numShaped: number, maxNewTokens: number): PageRequest[] {
  return sampleRequests(COMPARED_SIZE, maxNewTokens).map(({ prompt, options }, index) => {
    const shape = { responseFormat: { type: 'json_schema', schema: SCHEMA } as const };
    return { prompt, options: { ...options, ...(index < numShaped ? shape : { ignoreEos: true }) } };
  });
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
