import * as v from 'valibot';
import type { LatencySummary } from '../batching/metrics/latency-window.ts';
import { TEXT_GENERATOR } from './generation.ts';
import type { RequestId } from './ids.ts';
import { count, duration, id, name, type Wire } from './wire.ts';

export { percentilesOf, type LatencySummary, type Percentiles } from '../batching/metrics/latency-window.ts';

// Durations are in ms on the worker's clock.

export const batchRecord = v.object({
  /** The deployment's name. */
  deployment: name,
  /** Counts up from 0 within its deployment. */
  batchIndex: count,
  /** Requests that were still waiting when this batch ended. */
  queueLength: count,
  /** Why the batch was cut: see `CutReason` of `tabserve/batching`. */
  reason: v.picklist(['full', 'deferred', 'flush', 'close', 'timeout', 'idle']),
  /** Items handed to the handler. */
  batchSize: count,
  /** Their size by the deployment's own measure, or their count. */
  measuredSize: v.number(),
  /** The limit in force for this batch. */
  maxBatchSize: count,
  /** Tokens of the items that were answered, padding not counted; for encoders only, whose own measure counts padding. */
  numTokens: v.exactOptional(count),
  /** Where an encoder ran this batch. Left out for other deployments, and for a batch that failed. */
  backend: v.exactOptional(v.picklist(['webgpu', 'wasm', 'server'])),
  /** From the arrival of the oldest item to the cut. */
  waitMs: duration,
  /** From the cut to the end of the handler. */
  executionMs: duration,
  /** Waiting calls that were cancelled since the previous cut. */
  cancelled: count,
  /** 'error' when every item was rejected. */
  outcome: v.picklist(['ok', 'error']),
});
/**
 * One batch of a deployment other than the text generator.
 *
 * @interface
 */
export type BatchRecord = Wire<typeof batchRecord>;

interface StepFigures {
  /** `prefill` reads prompts or parts of them. `decode` generates a token for each sequence, and those of right guesses. */
  readonly kind: 'prefill' | 'decode';
  /**
   * Why the step holds no more sequences. `full`: the policy allows no more. `timeout`: the engine was idle, and
   * `batchWaitTimeoutMs` ran out. `deferred`: requests wait for memory, for their prefill, or for a static batch to end. `idle`: no
   * request waits.
   */
  readonly reason: 'full' | 'deferred' | 'timeout' | 'idle';
  /** Sequences in the step. */
  readonly batchSize: number;
  /** Tokens fed in, padding not counted. */
  readonly numTokens: number;
  /** Requests that waited when the step was scheduled. */
  readonly queueLength: number;
  /** The longest wait, from arrival to scheduling, of sequences in their first step; 0 if there are none. */
  readonly waitMs: number;
  /** 'error' when all sequences of the step failed in it. */
  readonly outcome: 'ok' | 'error';
}

/** One step of the engine, as the text generator's batch: one forward pass. */
export interface StepBatch extends StepFigures {
  /** The text generator's name. */
  readonly deployment: typeof TEXT_GENERATOR;
  /** Counts up from 0 within a loaded model. */
  readonly batchIndex: number;
  /** From the end of the previous step, or from scheduling after an idle time, to the end of this one. */
  readonly executionMs: number;
}

/** One forward pass. */
export interface StepRecord extends StepFigures {
  /** Counts up from 0 within a loaded model. */
  readonly stepIndex: number;
  /** Launched while the previous step was in flight. */
  readonly isBehind: boolean;
  /** From the end of the previous step, or from scheduling after an idle time, to the end of this one. */
  readonly stepMs: number;
  /** Time in the runtime's `run` call. */
  readonly runMs: number;
  /** Time until the tokens are read from the device. It includes the GPU's own time. */
  readonly readbackMs: number;
  /** Tokens that prompt lookup guessed; a part of `numTokens`. */
  readonly numGuessedTokens: number;
  /** Those of them that were right: each saved its sequence a step. */
  readonly numRightGuesses: number;
  /** Time between the step's end and the sending of this record. Timestamps do not cross the wire. */
  readonly agoMs: number;
  /** The K/V slots of its sequences, in the order of its rows. */
  readonly slots: readonly number[];
}

const stepEntries = {
  kind: v.picklist(['prefill', 'decode']),
  reason: v.picklist(['full', 'deferred', 'timeout', 'idle']),
  batchSize: count,
  numTokens: count,
  queueLength: count,
  waitMs: duration,
  outcome: v.picklist(['ok', 'error']),
};

export const stepBatch: v.GenericSchema<unknown, StepBatch> = v.object({
  ...stepEntries,
  deployment: v.literal(TEXT_GENERATOR),
  batchIndex: count,
  executionMs: duration,
});

const stepRecord: v.GenericSchema<unknown, StepRecord> = v.object({
  ...stepEntries,
  stepIndex: count,
  isBehind: v.boolean(),
  stepMs: duration,
  runMs: duration,
  readbackMs: duration,
  numGuessedTokens: count,
  numRightGuesses: count,
  agoMs: duration,
  slots: v.array(count),
});

const slotSpan = v.object({
  /** The request that the sequence belongs to. */
  requestId: id<RequestId>(),
  /** Index of this continuation within its request. */
  index: count,
  /** The slot's number, from 0. */
  slot: count,
  /** 0 for the sequence's first span. Each move to another slot adds 1. */
  spanIndex: count,
  /** Time before the first span of the sequence. */
  queueWaitMs: duration,
  /** Time since the span's first step began. All `AgoMs` count back from the message. */
  startedAgoMs: duration,
  /** Time since the first token of this span. The time before it was prefill. */
  firstTokenAgoMs: v.exactOptional(duration),
  /** Left out while the span lasts. */
  endedAgoMs: v.exactOptional(duration),
  /** How the span ended. */
  end: v.exactOptional(v.picklist(['stop', 'length', 'abort', 'error', 'moved'])),
  /** Tokens sampled in this span. */
  numTokens: count,
  /** `stepIndex` of its first step. */
  firstStepIndex: count,
  /** `stepIndex` of its last step so far. */
  lastStepIndex: count,
});
/**
 * The time that a sequence is in one K/V slot. A move to another slot begins its next span.
 *
 * @interface
 */
export type SlotSpan = Wire<typeof slotSpan>;

const latencySummary: v.GenericSchema<unknown, LatencySummary> = v.object({
  count,
  p50: duration,
  p95: duration,
  p99: duration,
});

export const serveStats = v.object({
  /** When the worker began, ms since 1970. Another worker has another clock. */
  workerStartedAtMs: duration,
  /** When this was sent, ms since the worker began. All `agoMs` count back from here. */
  sentAtMs: duration,
  /** Steps since the previous stats message, oldest first. */
  steps: v.array(stepRecord),
  /** Spans that last, and spans that ended since the previous stats message. */
  slotSpans: v.array(slotSpan),
  /** Running sequences. */
  numRunning: count,
  /** Waiting requests. */
  numWaiting: count,
  /** Memory of the K/V cache. */
  kvCache: v.object({
    /** Bytes of the tokens in the cache. */
    usedBytes: count,
    /** Bytes that the cache takes on the device. */
    reservedBytes: count,
  }),
  /** Output tokens per second over the last second of work. */
  tokensPerSecond: duration,
  /** Time to first token, from arrival. */
  ttftMs: latencySummary,
  /** Inter-token latency: from one token of a sequence to the next. */
  itlMs: latencySummary,
  /** From arrival to the first step. */
  queueWaitMs: latencySummary,
  /** From arrival to the end. */
  e2eMs: latencySummary,
  /** Sequences that ended, by reason. */
  finishReasons: v.object({
    /** An end token, a stop token or a stop string. */
    stop: count,
    /** `maxNewTokens` or the context is used up. */
    length: count,
    /** Cancelled. */
    abort: count,
    /** Failed. */
    error: count,
  }),
  /** Counted in sequences and tokens since the worker started. */
  totals: v.object({
    /** Accepted sequences. */
    submitted: count,
    /** Sequences that ended with `stop` or `length`. */
    finished: count,
    /** Sequences that ended with `abort`. */
    cancelled: count,
    /** Sequences that ended with `error`. */
    failed: count,
    /** Rejected requests. */
    rejected: count,
    /** Tokens of the prompts, each counted once. */
    promptTokens: count,
    /** Tokens generated, end tokens not counted. */
    outputTokens: count,
    /** Tokens that were looked up in the K/V rows of other sequences. */
    prefixCacheQueries: count,
    /** Tokens that were found there and not computed again. */
    prefixCacheHits: count,
  }),
});
/**
 * The figures of the text generator.
 *
 * @interface
 */
export type TabserveStats = Wire<typeof serveStats>;
