import {
  finiteIn,
  integerIn,
  integerOrInfinityIn,
  isBoolean,
  oneOf,
  parseOptions,
  type Validators,
} from './validate.ts';

/**
 * Admission: `off` runs one sequence at a time; `static` gathers a batch and lets nobody join until its last
 * member ends; `continuous` lets sequences join and leave between steps.
 */
export type PolicyName = 'off' | 'static' | 'continuous';

/** The knobs, the same for every policy. */
export interface BatchingPolicy {
  readonly policy: PolicyName;
  /** Sequences that run together at most. Integer from 1 to `LARGEST_BATCH_SIZE`. */
  readonly maxBatchSize: number;
  /** How long an idle engine may hold a partial batch for company, from the oldest arrival, in ms. Finite >= 0. */
  readonly batchWaitTimeoutMs: number;
  /** Prompt tokens that may be prefilled between two decode steps. Integer >= 1. */
  readonly maxBatchedTokens: number;
  /**
   * Requests that may wait, shared equally by the clients that wait; further ones are refused with
   * `BackPressureError`. Integer >= 1 or Infinity.
   */
  readonly maxQueuedRequests: number;
  /** Whether a prompt takes over the K/V of a prefix that a slot holds already. It changes no text. */
  readonly prefixCaching: boolean;
  /**
   * Bytes of the K/V cache at most; the device's own limit binds as well. A request that would need more by itself is
   * refused with `KvBudgetError`, others wait for memory. Integer >= 1 or Infinity.
   */
  readonly kvCacheMemoryBytes: number;
}

export const DEFAULT_POLICY: BatchingPolicy = {
  policy: 'continuous',
  maxBatchSize: 8,
  batchWaitTimeoutMs: 0,
  maxBatchedTokens: 256,
  maxQueuedRequests: 1000,
  prefixCaching: true,
  kvCacheMemoryBytes: Infinity,
};

/** Guards against a slip: every slot reserves K/V memory for a whole sequence. */
export const LARGEST_BATCH_SIZE = 64;

const KNOBS: Validators<BatchingPolicy> = {
  policy: oneOf('off', 'static', 'continuous'),
  maxBatchSize: integerIn({ from: 1, to: LARGEST_BATCH_SIZE }),
  batchWaitTimeoutMs: finiteIn({ from: 0 }),
  maxBatchedTokens: integerIn({ from: 1 }),
  maxQueuedRequests: integerOrInfinityIn({ from: 1 }),
  prefixCaching: isBoolean,
  kvCacheMemoryBytes: integerOrInfinityIn({ from: 1 }),
};

/** The policy with some knobs turned. One bad knob refuses the whole update; `current` is never touched. */
export function updatePolicy(current: BatchingPolicy, knobs: unknown): BatchingPolicy {
  return { ...current, ...parseOptions('knobs', KNOBS, knobs) };
}
