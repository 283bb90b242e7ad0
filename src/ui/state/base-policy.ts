import type { BatchingPolicy, ServeStatus } from '../../client/index.ts';

/** The users' own policy, which a load test may override for a while. The policy panel shows and changes this one. */
export function basePolicyOf({ override, policy }: ServeStatus): BatchingPolicy {
  return override?.basePolicy ?? policy;
}

export function withBasePolicy(status: ServeStatus, policy: BatchingPolicy): ServeStatus {
  if (!status.override) return { ...status, policy };
  return { ...status, override: { ...status.override, basePolicy: policy } };
}
