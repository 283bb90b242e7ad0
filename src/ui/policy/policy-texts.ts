import type { BatchingPolicy, PolicyName, ServeStatus } from '../../worker/protocol/status.ts';
import type { KnobText } from '../knob-field.tsx';

const POLICY_EXPLANATIONS: Readonly<Record<PolicyName, string>> = {
  off: 'One sequence at a time; every other request waits for it to end.',
  static: 'Ray Serve’s rule: gather a batch, run it until its last member ends. Nobody joins.',
  continuous: 'Sequences join and leave between steps; a free slot is filled at once.',
};

export const POLICY_NAMES: readonly PolicyName[] = ['off', 'static', 'continuous'];

type Knob = Exclude<keyof BatchingPolicy, 'policy' | 'prefixCaching'>;

export const KNOBS: readonly KnobText<Knob>[] = [
  {
    name: 'maxBatchSize',
    label: 'Max batch size',
    unit: 'sequences',
    hint: 'Sequences that run together at most.',
  },
  {
    name: 'batchWaitTimeoutMs',
    label: 'Batch wait timeout',
    unit: 'ms',
    hint: 'How long an idle engine holds a partial batch for company, from the oldest arrival.',
  },
  {
    name: 'maxBatchedTokens',
    label: 'Max batched tokens',
    unit: 'prompt tokens',
    hint: 'Prefilled between two decode steps at most: fewer keep running sequences even, more start new ones sooner.',
  },
  {
    name: 'maxQueuedRequests',
    label: 'Max queued requests',
    unit: 'requests',
    hint: 'How many may wait; further ones are refused with BACK_PRESSURE. Infinity = no limit.',
  },
  {
    name: 'kvCacheMemoryBytes',
    label: 'K/V cache memory',
    unit: 'bytes',
    hint: 'What keys and values of all sequences may take; others wait, and one that is too large alone is refused. Infinity = as much as the device allows.',
  },
];

/** The effect of a choice, or why it waits. */
export function explainPolicy(
  { override, policy }: Pick<ServeStatus, 'override' | 'policy'>,
  chosen: PolicyName,
): string {
  if (!override) return POLICY_EXPLANATIONS[chosen];
  const test = override.isOwn ? 'A load test' : 'A load test in another tab';
  return `${test} runs ${policy.policy}. Your settings apply when it ends.`;
}
