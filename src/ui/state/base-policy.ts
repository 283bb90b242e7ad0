import type { BatchingPolicy, TabserveStatus } from '../../client/index.ts';

/** The users' own policy, which a load test may override for a while. The policy panel shows and changes this one. */
export function basePolicyOf({ override, policy }: TabserveStatus): BatchingPolicy {
  return override?.basePolicy ?? policy;
}

export function withBasePolicy(status: TabserveStatus, policy: BatchingPolicy): TabserveStatus {
  if (!status.override) return { ...status, policy };
  return { ...status, override: { ...status.override, basePolicy: policy } };
}
