import type { AbortSignal } from '../base/abort-signal.ts';
import { Alarm } from '../base/alarm.ts';
import type { BatchControls, BatchEvent, CutReason, ResolvedBatchOptions } from './batch-options.ts';
import type { CallQueue } from './call-queue.ts';
import { CancelHandle, type CallHolder } from './cancel-handle.ts';
import { RequestCancelledError } from '../base/errors.ts';
import { batcherClosed, itemTooLarge } from './batch-errors.ts';
import { Gathering } from './gathering.ts';
import { DrainRate, retryAfterMsOf } from '../queue/drain-rate.ts';
import { backPressure } from '../queue/queue-errors.ts';
import { SHORTEST_STRIDE_MS, StrideGrid } from './stride-grid.ts';
import { requireCount, requireDuration, requireSignal, requireSize } from '../base/validate.ts';
import { RunningBatch } from './running-batch.ts';

/** Runs a batch and answers its callers. Resolves when the handler has ended; never rejects. */
export type RunBatch<Item, To> = (batch: RunningBatch<Item, To>) => Promise<void>;

/** The part of a `BatchEvent` that is known at the cut. */
type Cut = Omit<BatchEvent, 'batchSize' | 'executionMs' | 'outcome'>;

/**
 * The core of `batch` and `batchStream`: a queue, the batch being formed at its front, and the execution slots.
 * Everything that may allow a cut (an arrival, a free slot, the alarm, flush, close) ends in `#pump`.
 */
export class Batcher<Item, To> implements BatchControls, CallHolder {
  readonly #options: ResolvedBatchOptions<Item>;
  readonly #run: RunBatch<Item, To>;
  readonly #queue: CallQueue<Item, To>;
  /** True for streams. Otherwise only calls with a signal can be cancelled. */
  readonly #canAnyCallLeave: boolean;
  readonly #alarm: Alarm;
  readonly #grid: StrideGrid | undefined;
  readonly #drainRate = new DrainRate();
  #maxBatchSize: number;
  #batchWaitTimeoutMs: number;
  #maxConcurrentBatches: number;
  /** Set from the moment when a call waits and a slot is free: its limits are read then. */
  #gathering: Gathering<Item, To> | undefined;
  /** `batchSizeFn` may call back into the batcher; the measuring in progress handles the changes. */
  #isMeasuring = false;
  /** Earlier calls leave without waiting for a full batch. */
  #flushedBefore = 0;
  #isClosed = false;
  #numOngoing = 0;
  #numCancelled = 0;
  #numSinkErrors = 0;
  #drained: PromiseWithResolvers<void> | undefined;

  constructor(
    options: ResolvedBatchOptions<Item>,
    run: RunBatch<Item, To>,
    queue: CallQueue<Item, To>,
    { canAnyCallLeave = false } = {},
  ) {
    this.#options = options;
    this.#run = run;
    this.#queue = queue;
    this.#canAnyCallLeave = canAnyCallLeave;
    this.#maxBatchSize = options.maxBatchSize;
    this.#batchWaitTimeoutMs = options.batchWaitTimeoutMs;
    this.#maxConcurrentBatches = options.maxConcurrentBatches;
    this.#grid = options.strideMs >= SHORTEST_STRIDE_MS ? new StrideGrid(options.strideMs) : undefined;
    this.#alarm = new Alarm(options.clock, (dueMs) => this.#pump(undefined, dueMs));
  }

  get maxBatchSize(): number {
    return this.#maxBatchSize;
  }

  get batchWaitTimeoutMs(): number {
    return this.#batchWaitTimeoutMs;
  }

  get maxConcurrentBatches(): number {
    return this.#maxConcurrentBatches;
  }

  get queueLength(): number {
    return this.#queue.length;
  }

  get ongoingBatches(): number {
    return this.#numOngoing;
  }

  get sinkErrors(): number {
    return this.#numSinkErrors;
  }

  get retryAfterMs(): number {
    const nowMs = this.#options.clock.now();
    return retryAfterMsOf(this.#nextCutMs(nowMs) - nowMs);
  }

  get #hasFreeSlot(): boolean {
    return this.#numOngoing < this.#maxConcurrentBatches;
  }

  setMaxBatchSize(value: number): void {
    this.#maxBatchSize = requireCount('maxBatchSize', value);
  }

  setBatchWaitTimeoutMs(value: number): void {
    this.#batchWaitTimeoutMs = requireDuration('batchWaitTimeoutMs', value);
  }

  setMaxConcurrentBatches(value: number): void {
    this.#maxConcurrentBatches = requireCount('maxConcurrentBatches', value);
    this.#pump();
  }

  /** Enqueues a call and cuts batches that may leave. A refused call is rejected, and the result is undefined. */
  submit(
    item: Item,
    to: To,
    reject: (error: unknown) => void,
    signal: AbortSignal | undefined,
  ): CancelHandle | undefined {
    const nowMs = this.#options.clock.now();
    let size: number;
    try {
      size = this.#admit(item, signal);
    } catch (refusal) {
      reject(refusal);
      return undefined;
    }
    const handle = this.#canAnyCallLeave || signal ? new CancelHandle() : undefined;
    if (signal) handle?.cancelOnAbort(signal);
    const order = this.#queue.push(item, to, reject, nowMs);
    if (size !== 1) this.#queue.setSize(order, size);
    if (handle) {
      this.#queue.setHandle(order, handle);
      handle.pass(this, order);
    }
    if (this.#hasFreeSlot) this.#pump(order); // without a free slot nothing can leave, and no alarm is set
    return handle;
  }

  /** Takes a waiting call out at once. */
  cancel(order: number, error: RequestCancelledError, isSilent: boolean): void {
    this.#gathering?.onLeft();
    const reject = this.#queue.remove(order);
    this.#numCancelled++;
    if (!isSilent) reject(error);
    if (this.#queue.length === 0) this.#onQueueEmpty();
  }

  flush(): void {
    this.#flushedBefore = this.#queue.end;
    this.#pump();
  }

  drain(): Promise<void> {
    if (this.#isIdle) return Promise.resolve();
    this.#drained ??= Promise.withResolvers();
    return this.#drained.promise;
  }

  close(): Promise<void> {
    this.#isClosed = true;
    this.#pump();
    return this.drain();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** Returns the size of the item alone. @throws The reason if the call is refused. */
  #admit(item: Item, signal: AbortSignal | undefined): number {
    if (signal) requireSignal('signal', signal);
    this.#checkOpen(signal);
    const { batchSizeFn } = this.#options;
    if (!batchSizeFn) return 1;
    const size = requireSize('batchSizeFn(items)', batchSizeFn([item]));
    this.#checkOpen(signal); // batchSizeFn may have aborted the signal, closed the batcher or filled the queue
    if (size > this.#maxBatchSize) throw itemTooLarge(size, this.#maxBatchSize);
    return size;
  }

  #checkOpen(signal: AbortSignal | undefined): void {
    if (signal?.aborted) throw RequestCancelledError.because(signal.reason);
    if (this.#isClosed) throw batcherClosed();
    const { maxQueuedRequests } = this.#options;
    const numQueuedRequests = this.#queue.length;
    if (numQueuedRequests < maxQueuedRequests) return;
    throw backPressure({ numQueuedRequests, maxQueuedRequests, retryAfterMs: this.retryAfterMs });
  }

  /** When the next batch is likely to leave. */
  #nextCutMs(nowMs: number): number {
    if (this.#hasFreeSlot) return this.#alarm.dueMs;
    const { allowSmallBatch } = this.#options;
    const { oldest, length } = this.#queue;
    const isFull = oldest === undefined || length >= this.#maxBatchSize;
    const timeoutMs = isFull ? nowMs : this.#queue.arrivedAtMs(oldest) + this.#batchWaitTimeoutMs;
    const readyMs = isFull || allowSmallBatch ? timeoutMs : Infinity;
    const dueMs = Math.max(nowMs + this.#drainRate.remainingMs(nowMs), readyMs);
    return this.#grid && Number.isFinite(dueMs) ? this.#grid.nextMs(dueMs) : dueMs;
  }

  /** Cuts every batch that may leave now, then sets the alarm for the next cut. */
  #pump(arrival?: number, alarmMs?: number): void {
    if (this.#isMeasuring) return;
    if (this.#hasFreeSlot && this.#queue.length > 0) {
      const isCheckDue = this.#takeCheck(arrival, alarmMs);
      while (this.#hasFreeSlot && this.#cutOne(isCheckDue, arrival));
    }
    if (!this.#hasFreeSlot) this.#alarm.clear();
    if (this.#queue.length === 0) this.#onQueueEmpty();
  }

  #takeCheck(arrival: number | undefined, alarmMs: number | undefined): boolean {
    if (!this.#grid) return true;
    if (alarmMs !== undefined) return this.#grid.takeAt(alarmMs);
    return this.#grid.take(this.#options.clock.now(), arrival === this.#queue.oldest);
  }

  /** Returns false if no batch may leave; then the alarm is set. */
  #cutOne(isCheckDue: boolean, arrival: number | undefined): boolean {
    const gathering = this.#gather();
    const { oldest } = this.#queue;
    if (!gathering || oldest === undefined) return false;
    const nowMs = this.#options.clock.now();
    const isUrgent = this.#isClosed || this.#isFlushed(oldest);
    const reason = this.#cutReason(gathering, oldest, nowMs, arrival);
    if (reason && (isCheckDue || isUrgent)) {
      this.#cut(gathering, reason, nowMs);
      return true;
    }
    const readyMs = reason ? nowMs : this.#timeoutMs(gathering, oldest);
    this.#alarm.set(this.#grid ? this.#grid.nextMs(readyMs) : readyMs);
    return false;
  }

  /** The largest batch that fits the limits; undefined if no call is left. */
  #gather(): Gathering<Item, To> | undefined {
    return this.#options.batchSizeFn ? this.#measure() : (this.#gathering ??= this.#openGathering());
  }

  #measure(): Gathering<Item, To> | undefined {
    for (;;) {
      const first = this.#queue.after(undefined);
      if (first === undefined) return undefined;
      const size = this.#queue.sizeOf(first);
      // If the first call does not fit, the limits were read for calls that have left since.
      if (this.#gathering && size > this.#gathering.limits.maxBatchSize) this.#gathering = undefined;
      const gathering = (this.#gathering ??= this.#openGathering());
      if (size <= gathering.limits.maxBatchSize) {
        this.#isMeasuring = true;
        gathering.extend();
        this.#isMeasuring = false;
        return this.#gathering;
      }
      this.#queue.remove(first)(itemTooLarge(size, gathering.limits.maxBatchSize));
    }
  }

  #openGathering(): Gathering<Item, To> {
    const limits = { maxBatchSize: this.#maxBatchSize, waitTimeoutMs: this.#batchWaitTimeoutMs };
    return new Gathering(limits, this.#queue, this.#options.batchSizeFn);
  }

  /** The first reason that holds, in the order of the contract. */
  #cutReason(
    gathering: Gathering<Item, To>,
    oldest: number,
    nowMs: number,
    arrival: number | undefined,
  ): CutReason | undefined {
    if (gathering.measuredSize >= gathering.limits.maxBatchSize) return 'full';
    if (gathering.isDeferring) return 'deferred';
    if (this.#isFlushed(oldest)) return 'flush';
    if (this.#isClosed) return 'close';
    if (nowMs < this.#timeoutMs(gathering, oldest)) return undefined;
    // The calls that were sent together with this one may be on their way, so the alarm cuts, however long this one took to come.
    if (arrival !== undefined && gathering.limits.waitTimeoutMs > 0) return undefined;
    return oldest === arrival ? 'idle' : 'timeout';
  }

  #isFlushed(order: number): boolean {
    return order < this.#flushedBefore;
  }

  #timeoutMs({ limits }: Gathering<Item, To>, oldest: number): number {
    return this.#options.allowSmallBatch ? this.#queue.arrivedAtMs(oldest) + limits.waitTimeoutMs : Infinity;
  }

  #cut({ limits, numCalls, measuredSize }: Gathering<Item, To>, reason: CutReason, nowMs: number): void {
    const calls = this.#queue.take(numCalls);
    const cut = this.#options.onBatch && {
      reason,
      measuredSize,
      maxBatchSize: limits.maxBatchSize,
      waitMs: nowMs - calls.oldestArrivalMs,
      cancelled: this.#numCancelled,
    };
    const batch = new RunningBatch(calls, reason);
    this.#gathering = undefined;
    this.#numCancelled = 0;
    this.#numOngoing++;
    this.#drainRate.start(batch, nowMs);
    void this.#execute(batch, cut, nowMs);
  }

  /** @param cut Undefined without an `onBatch`. */
  async #execute(batch: RunningBatch<Item, To>, cut: Cut | undefined, cutAtMs: number): Promise<void> {
    await this.#run(batch);
    this.#numOngoing--;
    const endedAtMs = this.#options.clock.now();
    this.#drainRate.end(batch, endedAtMs);
    if (cut) this.#report(batch, cut, endedAtMs - cutAtMs);
    this.#pump();
  }

  #report(batch: RunningBatch<Item, To>, cut: Cut, executionMs: number): void {
    const outcome = batch.numRejected === batch.size ? 'error' : 'ok';
    const count = (): void => {
      this.#numSinkErrors++;
    };
    try {
      const returned: unknown = this.#options.onBatch?.({
        ...cut,
        batchSize: batch.size,
        executionMs,
        outcome,
      });
      if (typeof returned === 'object' && returned !== null) Promise.resolve(returned).catch(count); // from an async sink
    } catch {
      count();
    }
  }

  get #isIdle(): boolean {
    return this.#queue.length === 0 && this.#numOngoing === 0;
  }

  /** Called when no call waits: clears the alarm and the limits. */
  #onQueueEmpty(): void {
    this.#gathering = undefined;
    this.#alarm.clear();
    if (!this.#isIdle) return;
    this.#drained?.resolve();
    this.#drained = undefined;
  }
}
