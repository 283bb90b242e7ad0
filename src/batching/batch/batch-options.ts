/// <reference lib="esnext.disposable" preserve="true" />
import type { AbortSignal } from '../base/abort-signal.ts';
import { systemClock, type Clock } from '../base/clock.ts';
import {
  requireBoolean,
  requireClock,
  requireCount,
  requireCountOrInfinity,
  requireDuration,
  requireFunction,
  unknownName,
} from '../base/validate.ts';

/**
 * Why a batch was cut. If several reasons hold, the first in this order is recorded:
 *
 * - `full`: it has `maxBatchSize`.
 * - `deferred`: the next item did not fit.
 * - `flush`, `close`: these were called.
 * - `timeout`: its oldest call has waited for `batchWaitTimeoutMs`.
 * - `idle`: there was nothing to wait for.
 */
export type CutReason = 'full' | 'deferred' | 'flush' | 'close' | 'timeout' | 'idle';

/** The second argument of a handler. */
export interface BatchContext {
  /** Why the batch was cut. */
  readonly reason: CutReason;
  /** Aborts when every member of the batch has been cancelled. */
  readonly signal: AbortSignal;
  /** One per item, same order; aborts when that caller cancels. */
  readonly itemSignals: readonly AbortSignal[];
}

/** Options of `batch` and `batchStream`. An invalid one throws a TypeError or RangeError with the code `INVALID_OPTION`. */
export interface BatchOptions<Item> {
  /** Limit of items in one batch, or of `batchSizeFn`'s value. Integer >= 1, default 10. */
  readonly maxBatchSize?: number | undefined;
  /** How long the oldest waiting call may wait for more calls while a slot is free, in ms. Default 0. */
  readonly batchWaitTimeoutMs?: number | undefined;
  /** Limit of concurrent handlers. Integer >= 1, default 1. */
  readonly maxConcurrentBatches?: number | undefined;
  /** Limit of waiting calls; further ones are rejected with `BackPressureError`. Default Infinity. */
  readonly maxQueuedRequests?: number | undefined;
  /**
   * Measures a batch; by default its size is the number of items. Called at submit with the item alone, then for each item
   * added to a batch with the whole list, so measuring n items reads n²/2 of them.
   */
  readonly batchSizeFn?: ((items: readonly Item[]) => number) | undefined;
  /**
   * How many waiting calls are taken at once and sorted by their size alone, so that a batch holds calls of like sizes. Those
   * calls leave before any later one: fewer than `sortWindow` calls overtake a call. Integer >= 1, default 1: no sorting.
   */
  readonly sortWindow?: number | undefined;
  /** Default true. With false, partial batches leave only on `flush()` and `close()`. */
  readonly allowSmallBatch?: boolean | undefined;
  /**
   * Checks for a batch at most every `strideMs`. Default 0: at every event. The first call after a pause causes a check at once
   * and starts a grid of checks. Only `flush()` and `close()` cut between two checks. Less than a microsecond counts as 0.
   */
  readonly strideMs?: number | undefined;
  /** Default: the platform's clock. */
  readonly clock?: Clock | undefined;
  /**
   * Called for every batch when its handler has ended. Its errors, and rejections of a promise that it returns, are swallowed
   * and counted in `sinkErrors`.
   */
  readonly onBatch?: ((event: BatchEvent) => void) | undefined;
}

/** One batch, once its handler has ended. */
export interface BatchEvent {
  /** Why it was cut. */
  readonly reason: CutReason;
  /** The number of items given to the handler. */
  readonly batchSize: number;
  /** `batchSizeFn`'s value, or the number of items. */
  readonly measuredSize: number;
  /** The limit in force for this batch. */
  readonly maxBatchSize: number;
  /** Arrival of the oldest member -> cut, in ms. */
  readonly waitMs: number;
  /** Cut -> end of the handler, or of a stream's generator, in ms. */
  readonly executionMs: number;
  /** Waiting calls that were cancelled since the previous cut. */
  readonly cancelled: number;
  /** 'error' when every member was rejected; single `Error` slots leave it 'ok'. */
  readonly outcome: 'ok' | 'error';
}

/** Options of one call. */
export interface CallOptions {
  /** Cancels the call when it aborts. The call rejects with RequestCancelledError, and leaves a batch that has not been cut. */
  readonly signal?: AbortSignal | undefined;
}

/** The properties and methods of a batched function. */
export interface BatchControls extends AsyncDisposable {
  /** The value in force. */
  readonly maxBatchSize: number;
  /** The value in force, in ms. */
  readonly batchWaitTimeoutMs: number;
  /** The value in force. */
  readonly maxConcurrentBatches: number;
  /** The number of waiting calls. */
  readonly queueLength: number;
  /** The number of running handlers. */
  readonly ongoingBatches: number;
  /** The number of errors of `onBatch` that were swallowed. */
  readonly sinkErrors: number;
  /** How long until a call that is refused now is likely to be accepted, in whole ms, at least 1. */
  readonly retryAfterMs: number;
  /** Applies from the next batch. An invalid value throws and leaves the old one. */
  setMaxBatchSize(value: number): void;
  /** Applies from the next batch. An invalid value throws and leaves the old one. */
  setBatchWaitTimeoutMs(value: number): void;
  /** Applies at once. Running batches are never cancelled. */
  setMaxConcurrentBatches(value: number): void;
  /** Lets the calls that wait now leave as slots come free, in partial batches if necessary. */
  flush(): void;
  /** Resolves when nothing waits and nothing runs. */
  drain(): Promise<void>;
  /** Refuses new calls with `ClosedError`, emits the waiting ones, resolves when the last handler has ended. */
  close(): Promise<void>;
  /** As `close()`, at the end of a scope: `await using call = batch(…)`. */
  [Symbol.asyncDispose](): Promise<void>;
}

type OffByDefault = 'batchSizeFn' | 'onBatch';

/** Validated options with defaults. */
export type ResolvedBatchOptions<Item> = {
  readonly [Name in keyof BatchOptions<Item>]-?:
    | Exclude<BatchOptions<Item>[Name], undefined>
    | (Name extends OffByDefault ? undefined : never);
};

export function resolveBatchOptions<Item>(options: BatchOptions<Item>): ResolvedBatchOptions<Item> {
  const {
    maxBatchSize = 10,
    batchWaitTimeoutMs = 0,
    maxConcurrentBatches = 1,
    maxQueuedRequests = Infinity,
    batchSizeFn,
    sortWindow = 1,
    allowSmallBatch = true,
    strideMs = 0,
    clock = systemClock,
    onBatch,
    ...unknown
  } = options;
  const resolved = {
    maxBatchSize: requireCount('maxBatchSize', maxBatchSize),
    batchWaitTimeoutMs: requireDuration('batchWaitTimeoutMs', batchWaitTimeoutMs),
    maxConcurrentBatches: requireCount('maxConcurrentBatches', maxConcurrentBatches),
    maxQueuedRequests: requireCountOrInfinity('maxQueuedRequests', maxQueuedRequests),
    batchSizeFn: batchSizeFn === undefined ? undefined : requireFunction('batchSizeFn', batchSizeFn),
    sortWindow: requireCount('sortWindow', sortWindow),
    allowSmallBatch: requireBoolean('allowSmallBatch', allowSmallBatch),
    strideMs: requireDuration('strideMs', strideMs),
    clock: requireClock('clock', clock),
    onBatch: onBatch === undefined ? undefined : requireFunction('onBatch', onBatch),
  };
  const [name] = Object.keys(unknown);
  if (name !== undefined) throw unknownName('option', name, Object.keys(resolved));
  return resolved;
}
