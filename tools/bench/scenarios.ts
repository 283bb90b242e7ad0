import { SAMPLE_PROMPTS } from '../../src/ui/compose/sample-prompts.ts';
import type { BatchingPolicy, GenerationOptions, PolicyName } from '../../src/worker/protocol.ts';

export interface Scenario {
  readonly policy: PolicyName;
  readonly numRequests: number;
}

export interface ScenarioRequest {
  readonly prompt: string;
  readonly options: GenerationOptions;
}

/** The number of requests at which the policies are compared. */
export const COMPARED_SIZE = 8;

/** The compared ones first, side by side, so that a slow spell of the machine hits all three. */
export const SCENARIOS: readonly Scenario[] = [
  { policy: 'off', numRequests: COMPARED_SIZE },
  { policy: 'static', numRequests: COMPARED_SIZE },
  { policy: 'continuous', numRequests: COMPARED_SIZE },
  { policy: 'continuous', numRequests: 1 },
  { policy: 'continuous', numRequests: 2 },
  { policy: 'continuous', numRequests: 4 },
  { policy: 'continuous', numRequests: 16 },
];

/** A batch of the scenario's size starts as soon as all of it has arrived, whatever the policy. */
export function knobsOf({ policy, numRequests }: Scenario): Partial<BatchingPolicy> {
  return { policy, maxBatchSize: numRequests, batchWaitTimeoutMs: 1000 };
}

/** The same requests for every policy; greedy, so that they are the same texts in every round too. */
export function requestsOf({ numRequests }: Scenario, maxNewTokens: number): ScenarioRequest[] {
  return Array.from({ length: numRequests }, (_, index) => ({
    prompt: SAMPLE_PROMPTS[index % COMPARED_SIZE] ?? '',
    options: { temperature: 0, maxNewTokens },
  }));
}
