import type { BatchingPolicy, ServeStatus } from '../../worker/protocol/protocol.ts';

/** The users' own policy, which a load test may hide for a while: what the policy panel shows and changes. */
export function basePolicyOf({ override, policy }: ServeStatus): BatchingPolicy {
  return override?.basePolicy ?? policy;
}

export function withBasePolicy(status: ServeStatus, policy: BatchingPolicy): ServeStatus {
  if (!status.override) return { ...status, policy };
  return { ...status, override: { ...status.override, basePolicy: policy } };
}
