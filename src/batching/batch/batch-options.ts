import type { AbortSignal } from '../abort-signal.ts';
import { systemClock, type Clock } from '../clock.ts';
import {
  requireBoolean,
  requireClock,
  requireCount,
  requireCountOrInfinity,
  requireDuration,
  requireFunction,
} from '../require-option.ts';

/** Why a batch was cut; where several reasons hold, the first in this order is recorded. */
export type CutReason = 'full' | 'deferred' | 'flush' | 'close' | 'timeout' | 'idle';

export interface BatchContext {
  readonly reason: CutReason;
  /** Aborts when every member of the batch has been cancelled. */
  readonly signal: AbortSignal;
  /** One per item, same order; aborts when that caller cancels. */
  readonly itemSignals: readonly AbortSignal[];
}

export interface BatchOptions<Item> {
  /** Items (or what `batchSizeFn` measures) in one batch at most. Integer >= 1, default 10. */
  readonly maxBatchSize?: number;
  /** How long the oldest waiting call may be held for company, in ms. Default 0: never when a slot is free. */
  readonly batchWaitTimeoutMs?: number;
  /** Handlers that run at the same time at most. Integer >= 1, default 1. */
  readonly maxConcurrentBatches?: number;
  /** Calls that may wait; further ones are rejected with `BackPressureError`. Default Infinity. */
  readonly maxQueuedRequests?: number;
  /**
   * Measures a batch in something else than items. Called once at submit with the item alone, and once per item added
   * to a batch with the list so far; it takes the whole list, so measuring n items reads n²/2 of them.
   */
  readonly batchSizeFn?: (items: readonly Item[]) => number;
  /** Default true. With false only full batches leave by themselves; `flush()` and `close()` emit a partial one. */
  readonly allowSmallBatch?: boolean;
  /**
   * Looks for a batch at most this often, in ms. Default 0: at every event. The first call after a quiet spell is
   * looked at at once and starts a grid of looks, `strideMs` apart; only `flush()` and `close()` cut between them. Less
   * than a microsecond counts as 0.
   */
  readonly strideMs?: number;
  /** Default: the platform's clock. */
  readonly clock?: Clock;
  /**
   * Told of every batch when its handler has ended. A throw in it, and a rejection of the promise that it returns, are
   * swallowed and counted in `sinkErrors`.
   */
  readonly onBatch?: (event: BatchEvent) => void;
}

export interface BatchEvent {
  readonly reason: CutReason;
  /** Live items handed to the handler. */
  readonly batchSize: number;
  /** What `batchSizeFn` said of them, or their count. */
  readonly measuredSize: number;
  /** The limit in force for this batch. */
  readonly maxBatchSize: number;
  /** Arrival of the oldest member -> cut. */
  readonly waitMs: number;
  /** Cut -> end of the handler, for a stream the end of its generator. */
  readonly executionMs: number;
  /** Waiting calls that were cancelled since the previous cut. */
  readonly cancelled: number;
  /** 'error' when every member was rejected; single `Error` slots leave it 'ok'. */
  readonly outcome: 'ok' | 'error';
}

export interface CallOptions {
  readonly signal?: AbortSignal;
}

/** Options after validation: every default filled in, the two functions still optional. */
export interface ResolvedBatchOptions<Item> {
  readonly maxBatchSize: number;
  readonly batchWaitTimeoutMs: number;
  readonly maxConcurrentBatches: number;
  readonly maxQueuedRequests: number;
  readonly batchSizeFn: ((items: readonly Item[]) => number) | undefined;
  readonly allowSmallBatch: boolean;
  readonly strideMs: number;
  readonly clock: Clock;
  readonly onBatch: ((event: BatchEvent) => void) | undefined;
}

export function resolveBatchOptions<Item>(options: BatchOptions<Item>): ResolvedBatchOptions<Item> {
  const {
    maxBatchSize = 10,
    batchWaitTimeoutMs = 0,
    maxConcurrentBatches = 1,
    maxQueuedRequests = Infinity,
    batchSizeFn,
    allowSmallBatch = true,
    strideMs = 0,
    clock = systemClock,
    onBatch,
  } = options;
  return {
    maxBatchSize: requireCount('maxBatchSize', maxBatchSize),
    batchWaitTimeoutMs: requireDuration('batchWaitTimeoutMs', batchWaitTimeoutMs),
    maxConcurrentBatches: requireCount('maxConcurrentBatches', maxConcurrentBatches),
    maxQueuedRequests: requireCountOrInfinity('maxQueuedRequests', maxQueuedRequests),
    batchSizeFn: batchSizeFn === undefined ? undefined : requireFunction('batchSizeFn', batchSizeFn),
    allowSmallBatch: requireBoolean('allowSmallBatch', allowSmallBatch),
    strideMs: requireDuration('strideMs', strideMs),
    clock: requireClock('clock', clock),
    onBatch: onBatch === undefined ? undefined : requireFunction('onBatch', onBatch),
  };
}
