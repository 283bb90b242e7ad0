import type { BatchingPolicy, PolicyName, TabserveStatus } from '../../client/index.ts';
import { keysOf } from '../parts/keys-of.ts';
import type { KnobTexts } from '../parts/knob-field.tsx';

const POLICY_EXPLANATIONS: Readonly<Record<PolicyName, string>> = {
  off: 'One prompt at a time. The others wait until it ends.',
  static: 'Ray Serve’s way: gather a batch and run it to its end. Nobody joins on the way.',
  continuous: 'Prompts join and leave between steps, so a free slot is filled at once.',
};

export const POLICY_NAMES = keysOf(POLICY_EXPLANATIONS);

/** The knobs that are numbers. */
export const KNOBS: KnobTexts<Exclude<keyof BatchingPolicy, 'policy' | 'prefixCaching'>> = {
  maxBatchSize: {
    label: 'Max batch size',
    unit: 'sequences',
    hint: 'The most texts that share one step of the model.',
  },
  batchWaitTimeoutMs: {
    label: 'Batch wait timeout',
    unit: 'ms',
    hint: 'How long to wait for more requests before starting.',
  },
  maxBatchedTokens: {
    label: 'Max batched tokens',
    unit: 'prompt tokens',
    hint: 'Read between two steps. Fewer keep running texts even; more start new ones sooner.',
  },
  prefillStallMs: {
    label: 'Prefill stall',
    unit: 'ms',
    hint: 'How long new prompts may hold up running texts at a time. auto = about three steps. Infinity = no limit.',
  },
  maxQueuedRequests: {
    label: 'Max queued requests',
    unit: 'requests',
    hint: 'How many requests may wait. Further ones are refused. Infinity = no limit.',
  },
  kvCacheMemoryBytes: {
    label: 'K/V cache memory',
    unit: 'bytes',
    hint: 'Memory for the keys and values of all texts. Requests wait for room. Infinity = all that the device allows.',
  },
  maxContextLength: {
    label: 'Max context length',
    unit: 'tokens',
    hint: 'The longest text, prompt and answer together. Infinity = all that the model and the device allow.',
  },
};

/** The effect of a choice, or why it waits. */
export function explainPolicy(
  { override, policy }: Pick<TabserveStatus, 'override' | 'policy'>,
  chosen: PolicyName,
): string {
  if (!override) return POLICY_EXPLANATIONS[chosen];
  const test = override.isOwn ? 'A test' : 'A test in another tab';
  return `${test} runs ${policy.policy}. Your choice applies when it ends.`;
}
