import type { PolicyName, TabserveStatus } from '../../../client/index.ts';
import { keysOf } from '../../parts/keys-of.ts';

const POLICY_EXPLANATIONS: Readonly<Record<PolicyName, string>> = {
  off: 'One prompt at a time. The others wait until it ends.',
  static: 'Ray Serve’s way: gather a batch and run it to its end. Nobody joins on the way.',
  continuous: 'Prompts join and leave between steps, so a free slot is filled at once.',
};

export const POLICY_NAMES = keysOf(POLICY_EXPLANATIONS);

/** The effect of a choice, or why it waits. */
export function explainPolicy(
  { override, policy }: Pick<TabserveStatus, 'override' | 'policy'>,
  chosen: PolicyName,
): string {
  if (!override) return POLICY_EXPLANATIONS[chosen];
  const test = override.isOwn ? 'A test or check' : 'A test or check in another tab';
  return `${test} runs ${policy.policy}. Your choice applies when it ends.`;
}
