import { SAMPLE_PROMPTS } from '../../../src/ui/compose/sample-prompts.ts';
import type { BatchingPolicy, PolicyName } from '../../../src/protocol/status.ts';
import type { GenerationOptions } from '../../../src/protocol/generation.ts';

export interface Scenario {
  readonly policy: PolicyName;
  readonly numRequests: number;
}

export interface ScenarioRequest {
  readonly prompt: string;
  readonly options: GenerationOptions;
}

/** In a shorter time, a row is mostly noise and ends before the page draws. */
export const SUSTAINED_MS = 2000;

/** The number of requests at which the policies are compared. */
export const COMPARED_SIZE = 8;

/** The compared scenarios come first, side by side, so that a slow moment of the machine affects all three. */
export const SCENARIOS: readonly Scenario[] = [
  { policy: 'off', numRequests: COMPARED_SIZE },
  { policy: 'static', numRequests: COMPARED_SIZE },
  { policy: 'continuous', numRequests: COMPARED_SIZE },
  { policy: 'continuous', numRequests: 1 },
  { policy: 'continuous', numRequests: 2 },
  { policy: 'continuous', numRequests: 4 },
  { policy: 'continuous', numRequests: 16 },
];

/** Scenarios that are measured on the stand-in. */
export const STAND_IN_SCENARIOS: readonly Scenario[] = [
  { policy: 'off', numRequests: COMPARED_SIZE },
  { policy: 'continuous', numRequests: COMPARED_SIZE },
  { policy: 'continuous', numRequests: 1 },
];

/**
 * A batch of the scenario's size starts as soon as all of it has arrived, whatever the policy. The same prompts come again in
 * each round: prefix caching would spare their prefill.
 */
export function knobsOf({ policy, numRequests }: Scenario): Partial<BatchingPolicy> {
  return { policy, maxBatchSize: numRequests, batchWaitTimeoutMs: 1000, prefixCaching: false };
}

/** Tokens that the sequences of the sweep grow to, as far as the model goes. */
export const CONTEXT_LENGTHS: readonly number[] = [64, 256, 512];
/** Generated tokens among them. */
export const NUM_SWEPT_TOKENS = 32;

/** Prompts of about this many tokens: every word is one. */
export function longRequestsOf(contextLength: number): ScenarioRequest[] {
  const words = 'the little dog ran to a big red house and saw'.split(' ');
  const numWords = contextLength - NUM_SWEPT_TOKENS - 1;
  return Array.from({ length: COMPARED_SIZE }, (_, request) => ({
    prompt: Array.from({ length: numWords }, (_word, index) => words[(index + request) % words.length]).join(
      ' ',
    ),
    // At a high temperature, none ends early.
    options: { temperature: 5, seed: request, maxNewTokens: NUM_SWEPT_TOKENS },
  }));
}

/** The same requests for every policy; greedy, so that they are the same texts in every round too. */
export function requestsOf({ numRequests }: Scenario, maxNewTokens: number): ScenarioRequest[] {
  return Array.from({ length: numRequests }, (_, index) => ({
    prompt: SAMPLE_PROMPTS[index % COMPARED_SIZE] ?? '',
    options: { temperature: 0, maxNewTokens },
  }));
}
