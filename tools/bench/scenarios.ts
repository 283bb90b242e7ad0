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

const PROMPTS = [
  'Once upon a time,',
  'Hi my name is Lewis and I like to',
  'My name is Mary, and my favorite',
  'My name is Clara and I am',
  'My name is Julien and I like to',
  'Today I accidentally',
  'My greatest wish is to',
  'In a galaxy far far away',
] as const;

/** A batch of the scenario's size starts as soon as all of it has arrived, whatever the policy. */
export function knobsOf({ policy, numRequests }: Scenario): Partial<BatchingPolicy> {
  return { policy, maxBatchSize: numRequests, batchWaitTimeoutMs: 1000 };
}

/** The same requests for every policy; greedy, so that they are the same texts in every round too. */
export function requestsOf({ numRequests }: Scenario, maxNewTokens: number): ScenarioRequest[] {
  return Array.from({ length: numRequests }, (_, index) => ({
    prompt: PROMPTS[index % PROMPTS.length] ?? PROMPTS[0],
    options: { temperature: 0, maxNewTokens },
  }));
}
