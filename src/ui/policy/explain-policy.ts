import type { PolicyName, ServeStatus } from '../../worker/protocol/protocol.ts';
import { POLICY_EXPLANATIONS } from './policy-texts.ts';

/** The effect of a choice, or why it waits. */
export function explainPolicy(
  { override, policy }: Pick<ServeStatus, 'override' | 'policy'>,
  chosen: PolicyName,
): string {
  if (!override) return POLICY_EXPLANATIONS[chosen];
  const test = override.isOwn ? 'A load test' : 'A load test in another tab';
  return `${test} runs ${policy.policy}. Your settings apply when it ends.`;
}
