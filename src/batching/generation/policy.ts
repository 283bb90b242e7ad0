import {
  finiteIn,
  integerIn,
  integerOrInfinityIn,
  isBoolean,
  isDurationOrAuto,
  oneOf,
  type Validators,
} from '../base/validate.ts';

/**
 * When sequences start: `off` runs one sequence at a time; `static` gathers a batch that no sequence joins until its last
 * member ends; `continuous` lets sequences join and leave between steps.
 */
export type PolicyName = 'off' | 'static' | 'continuous';

/** The knobs, the same for every policy. */
export interface BatchingPolicy {
  /** When sequences start. */
  readonly policy: PolicyName;
  /** The most sequences that run together. Integer from 1 to 64. */
  readonly maxBatchSize: number;
  /** How long an idle engine may hold a partial batch for company, from the oldest arrival, in ms. Finite >= 0. */
  readonly batchWaitTimeoutMs: number;
  /** Prompt tokens that may be prefilled between two decode steps. Integer >= 1. */
  readonly maxBatchedTokens: number;
  /**
   * How long a prefill step may keep running sequences waiting, in ms, by the measured time per token; 16 tokens may always be
   * prefilled. `auto`: about three decode steps. Nothing limits it while no sequence decodes. >= 0, Infinity or `auto`.
   */
  readonly prefillStallMs: number | 'auto';
  /**
   * Requests that may wait, shared equally by the clients that wait. Further ones are refused with `BackPressureError`.
   * Integer >= 1 or Infinity.
   */
  readonly maxQueuedRequests: number;
  /** Whether a prompt reuses the K/V of a prefix that a slot already holds. It changes no text. */
  readonly prefixCaching: boolean;
  /**
   * Whether the next tokens are guessed, from what the text repeats and what its shape forces, and checked in one step where that is
   * faster. It changes no text.
   */
  readonly promptLookup: boolean;
  /**
   * The most bytes of the K/V cache; the device's own limit holds as well. A request that would need more by itself is
   * refused with `KvBudgetError`; others wait for memory. Integer >= 1 or Infinity.
   */
  readonly kvCacheMemoryBytes: number;
  /**
   * The most tokens of a prompt and its output together; the model's context and the device's memory hold as well. It
   * holds for requests that come after it is set. Integer >= 1 or Infinity.
   */
  readonly maxContextLength: number;
}

/** The policy of a new browser profile. */
export const DEFAULT_POLICY: BatchingPolicy = {
  policy: 'continuous',
  maxBatchSize: 8,
  batchWaitTimeoutMs: 0,
  maxBatchedTokens: 256,
  prefillStallMs: 'auto',
  maxQueuedRequests: 1000,
  prefixCaching: true,
  promptLookup: true,
  kvCacheMemoryBytes: Infinity,
  maxContextLength: 4096,
};

/** Guards against a typo: every slot reserves K/V memory for a whole sequence. */
export const LARGEST_BATCH_SIZE = 64;

export const KNOBS: Validators<BatchingPolicy> = {
  policy: oneOf('off', 'static', 'continuous'),
  maxBatchSize: integerIn({ from: 1, to: LARGEST_BATCH_SIZE }),
  batchWaitTimeoutMs: finiteIn({ from: 0 }),
  maxBatchedTokens: integerIn({ from: 1 }),
  prefillStallMs: isDurationOrAuto,
  maxQueuedRequests: integerOrInfinityIn({ from: 1 }),
  prefixCaching: isBoolean,
  promptLookup: isBoolean,
  kvCacheMemoryBytes: integerOrInfinityIn({ from: 1 }),
  maxContextLength: integerOrInfinityIn({ from: 1 }),
};
