import {
  resolveBatchOptions,
  type BatchContext,
  type BatchControls,
  type BatchOptions,
  type CallOptions,
} from './batch-options.ts';
import { Batcher } from './batcher.ts';
import { CallQueue } from './call-queue.ts';
import { SortedQueue } from './called-queue.ts';
import type { CancelHandle } from './cancel-handle.ts';
import { RequestCancelledError } from '../base/errors.ts';
import { requireFunction, requireObject } from '../base/validate.ts';
import { requireEntries } from './require-entries.ts';
import type { RunningBatch } from './running-batch.ts';
import { StreamBuffer } from './stream-buffer.ts';

export type { AbortSignal } from '../base/abort-signal.ts';
export type {
  BatchContext,
  BatchControls,
  BatchEvent,
  BatchOptions,
  CallOptions,
  CutReason,
} from './batch-options.ts';

/** A function whose calls are batched, with the knobs and figures of its batcher. */
export interface Batched<Item, Result> extends BatchControls {
  /**
   * Submits one item. Never throws.
   *
   * @returns The handler's entry for this item.
   * @throws The `Error` in its slot, or what the handler threw.
   * @throws BackPressureError, ItemTooLargeError, BatchSizeMismatchError, RequestCancelledError or ClosedError.
   */
  (item: Item, options?: CallOptions): Promise<Result>;
}

/** A function whose calls are batched and answered in chunks, with the knobs and figures of its batcher. */
export interface BatchedStream<Item, Chunk> extends BatchControls {
  /**
   * Submits one item at once, also before the first chunk is read. Never throws.
   *
   * @returns This item's chunks, as they come. Leaving the loop cancels the call. Errors are those of `Batched`.
   */
  (item: Item, options?: CallOptions): AsyncIterableIterator<Chunk>;
}

/** The type of `END_OF_STREAM`. A `unique symbol` would widen to `symbol` in what a handler's callbacks return. */
export type EndOfStream = symbol & { readonly __brand: 'END_OF_STREAM' };

/** Ends the stream of one caller, in its slot of a step. */
// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a brand has no other way in
export const END_OF_STREAM = Symbol('END_OF_STREAM') as EndOfStream;

/** Returns one entry per item, in order. An `Error` instance in a slot rejects that caller alone. */
export type Handler<Item, Result> = (
  items: readonly Item[],
  context: BatchContext,
) => Promise<readonly (Result | Error)[]>;

/** One caller's entry in a step: a chunk, the end, or an `Error` for that caller alone. */
export type StreamSlot<Chunk> = Chunk | Error | EndOfStream;

/** Yields, per step, one entry per item: a chunk, END_OF_STREAM, or an `Error` for that caller alone. */
export type StreamHandler<Item, Chunk> = (
  items: readonly Item[],
  context: BatchContext,
) => AsyncIterable<readonly StreamSlot<Chunk>[]>;

/** Answers one call. */
export type Resolve<Result> = (result: Result) => void;
type Reject = (error: unknown) => void;

/**
 * Calls with one item each become calls of `handler` with many. The handler returns one entry per item, in order. Calls leave first
 * come, first served.
 *
 * @throws TypeError for an option of the wrong type, RangeError for one out of range; both have the code `INVALID_OPTION`.
 */
export function batch<Item, Result>(
  handler: Handler<Item, Result>,
  options: BatchOptions<Item> = {},
): Batched<Item, Result> {
  requireArguments('batch', handler, options);
  return batchFrom(queueFor(options), handler, options);
}

/** Like `batch`, in the order of the queue that calls wait in. */
export function batchFrom<Item, Result>(
  queue: CallQueue<Item, Resolve<Result>>,
  handler: Handler<Item, Result>,
  options: BatchOptions<Item>,
): Batched<Item, Result> {
  const run = (running: RunningBatch<Item, Resolve<Result>>): Promise<void> => runHandler(handler, running);
  const batcher = new Batcher(resolveBatchOptions(options), run, queue);
  // One executor for all calls: `new Promise` runs it at once, and a closure for each call was measured to cost a fifth of
  // the throughput. It keeps only the last call's promise alive.
  let resolve!: Resolve<Result>;
  let reject!: Reject;
  const executor = (resolveCall: Resolve<Result>, rejectCall: Reject): void => {
    resolve = resolveCall;
    reject = rejectCall;
  };
  const submit = (item: Item, callOptions?: CallOptions): Promise<Result> => {
    const answer = new Promise<Result>(executor);
    const rejectCall = reject; // user code that submit() runs may call back and replace it
    try {
      batcher.submit(item, resolve, rejectCall, callOptions?.signal);
    } catch (error) {
      rejectCall(error); // for example an unusable signal
    }
    return answer;
  };
  return withControls(submit, batcher);
}

/**
 * Like `batch`, for handlers that answer in steps: each caller reads its own stream of chunks.
 *
 * @throws TypeError for an option of the wrong type, RangeError for one out of range; both have the code `INVALID_OPTION`.
 */
export function batchStream<Item, Chunk>(
  handler: StreamHandler<Item, Chunk>,
  options: BatchOptions<Item> = {},
): BatchedStream<Item, Chunk> {
  requireArguments('batchStream', handler, options);
  const batcher = new Batcher<Item, StreamBuffer<Chunk>>(
    resolveBatchOptions(options),
    (running) => runStreamHandler(handler, running),
    queueFor(options),
    { canAnyCallLeave: true },
  );
  const submit = (item: Item, callOptions?: CallOptions): AsyncIterableIterator<Chunk> => {
    let handle: CancelHandle | undefined;
    const buffer = new StreamBuffer<Chunk>(() => {
      handle?.cancel(RequestCancelledError.because(undefined), true);
    });
    const reject = (error: unknown): void => buffer.reject(error);
    try {
      const signal = callOptions?.signal;
      handle = batcher.submit(item, buffer, reject, signal);
      if (handle && signal) buffer.follow(signal);
    } catch (error) {
      reject(error); // for example an unusable signal
    }
    return buffer;
  };
  return withControls(submit, batcher);
}

function requireArguments(name: string, handler: unknown, options: unknown): void {
  requireFunction('handler', handler, name);
  requireObject('options', options, name);
}

/** A queue without windows is faster. */
function queueFor<Item, To>({ sortWindow = 1 }: BatchOptions<Item>): CallQueue<Item, To> {
  return sortWindow > 1 ? new SortedQueue(sortWindow) : new CallQueue();
}

/** The members of a batcher that a batched function has. */
const CONTROLS: Readonly<Record<keyof BatchControls, true>> = {
  maxBatchSize: true,
  batchWaitTimeoutMs: true,
  maxConcurrentBatches: true,
  queueLength: true,
  ongoingBatches: true,
  sinkErrors: true,
  retryAfterMs: true,
  setMaxBatchSize: true,
  setBatchWaitTimeoutMs: true,
  setMaxConcurrentBatches: true,
  flush: true,
  drain: true,
  close: true,
  [Symbol.asyncDispose]: true,
};

/** Gives `submit` these members of the batcher, bound to it: the properties stay live. */
function withControls<Submit extends object, Item, To>(
  submit: Submit,
  batcher: Batcher<Item, To>,
): Submit & BatchControls {
  for (const name of Reflect.ownKeys(CONTROLS)) {
    const member = Object.getOwnPropertyDescriptor(Batcher.prototype, name);
    const get = member?.get?.bind(batcher);
    Object.defineProperty(submit, name, get ? { get } : { value: member?.value?.bind(batcher) });
  }
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the loop has just made it true
  return submit as Submit & BatchControls;
}

async function runHandler<Item, Result>(
  handler: Handler<Item, Result>,
  running: RunningBatch<Item, Resolve<Result>>,
): Promise<void> {
  try {
    const results = await handler(running.items, running.context);
    requireEntries(results, running.size);
    deal(results, running);
  } catch (error) {
    running.rejectAll(error);
  }
}

function deal<Item, Result>(
  results: readonly (Result | Error)[],
  running: RunningBatch<Item, Resolve<Result>>,
): void {
  for (let index = 0; index < running.size; index++) {
    const result = results[index];
    const error = isPrimitive(result) ? undefined : errorIn(result);
    if (error) running.reject(index, error);
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as long as the batch: a hole is an undefined result
    else running.settle(index)?.(result as Result);
  }
}

async function runStreamHandler<Item, Chunk>(
  handler: StreamHandler<Item, Chunk>,
  running: RunningBatch<Item, StreamBuffer<Chunk>>,
): Promise<void> {
  try {
    const steps = handler(running.items, running.context)[Symbol.asyncIterator]();
    let closing: Promise<unknown> | undefined;
    const close = (): Promise<unknown> => (closing ??= closeSteps(steps));
    const closed = Promise.withResolvers<unknown>();
    // A generator settles its pending step before it closes. Another iterator may never settle it, so the handler
    // counts as ended once return() has ended.
    running.onAbandoned = () => {
      if (steps.return) closed.resolve(close());
    };
    await Promise.race([deliverSteps(steps, running, close), closed.promise]);
  } catch (error) {
    running.rejectAll(error);
  }
}

async function deliverSteps<Item, Chunk>(
  steps: AsyncIterator<readonly StreamSlot<Chunk>[]>,
  running: RunningBatch<Item, StreamBuffer<Chunk>>,
  close: () => Promise<unknown>,
): Promise<void> {
  while (running.numLive > 0) {
    const step = await steps.next();
    if (step.done) return endAll(running);
    try {
      requireEntries(step.value, running.size);
      deliver(step.value, running);
    } catch (error) {
      running.rejectAll(error); // the step cannot be read; the loop ends and closes the generator
    }
  }
  await close();
}

function deliver<Item, Chunk>(
  slots: readonly StreamSlot<Chunk>[],
  running: RunningBatch<Item, StreamBuffer<Chunk>>,
): void {
  for (let index = 0; index < running.size; index++) {
    const slot = slots[index];
    const error = isPrimitive(slot) ? undefined : errorIn(slot);
    if (error) running.reject(index, error);
    else if (slot === END_OF_STREAM) running.settle(index)?.end();
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as long as the batch: a hole is an undefined chunk
    else running.live(index)?.push(slot as Chunk);
  }
}

/** Check this first: calling `errorIn` for each slot takes up to a fifth of a small batch's time (measured). */
function isPrimitive(slot: unknown): boolean {
  return typeof slot !== 'object' && typeof slot !== 'function';
}

/** The `Error` in a slot. A slot whose class cannot be read, such as a revoked Proxy, gives a TypeError. */
function errorIn(slot: unknown): Error | undefined {
  try {
    return slot instanceof Error ? slot : undefined;
  } catch (cause) {
    const message = 'The handler gave this call a value that cannot be read: give it another one.';
    return new TypeError(message, { cause });
  }
}

function endAll<Item, Chunk>(running: RunningBatch<Item, StreamBuffer<Chunk>>): void {
  for (let index = 0; index < running.size; index++) running.settle(index)?.end();
}

async function closeSteps(steps: AsyncIterator<unknown>): Promise<unknown> {
  return steps.return?.();
}
