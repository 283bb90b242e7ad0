import { createAbortController, type AbortController, type AbortSignal } from '../base/abort-signal.ts';
import type { BatchContext, CutReason } from './batch-options.ts';
import type { TakenCalls } from './call-queue.ts';
import type { CallHolder } from './cancel-handle.ts';
import type { RequestCancelledError } from '../base/errors.ts';

/**
 * A batch that its handler runs: the members that wait for an answer, and the signals of those that left. A member is
 * identified by its index.
 */
export class RunningBatch<Item, To> implements CallHolder {
  readonly items: readonly Item[];
  readonly size: number;
  readonly context: LazyBatchContext;
  readonly #calls: TakenCalls<Item, To>;
  /** The number of members that wait for an answer. */
  numLive: number;
  numRejected = 0;
  /** Called once if the last live member cancels. */
  onAbandoned: (() => void) | undefined;

  constructor(calls: TakenCalls<Item, To>, reason: CutReason) {
    this.items = calls.items;
    this.size = calls.items.length;
    this.context = new LazyBatchContext(reason, this.size);
    this.#calls = calls;
    this.numLive = this.size;
    calls.handles.forEach((handle, index) => handle?.pass(this, index));
  }

  /** Takes a member's result or chunks; undefined once it is answered. */
  live(index: number): To | undefined {
    return this.#calls.tos[index];
  }

  /** Marks a member as answered. Returns what takes its success; undefined if it was answered before. */
  settle(index: number): To | undefined {
    const to = this.live(index);
    if (to === undefined) return undefined;
    this.#calls.tos[index] = undefined;
    this.#calls.handles[index]?.close();
    this.numLive--;
    return to;
  }

  reject(index: number, error: unknown): void {
    if (this.settle(index) === undefined) return;
    this.numRejected++;
    this.#calls.rejects[index]?.(error);
  }

  rejectAll(error: unknown): void {
    for (let index = 0; index < this.size; index++) this.reject(index, error);
  }

  /** Aborts the signals last: the handler's listeners may call back into the batcher. */
  cancel(index: number, error: RequestCancelledError, isSilent: boolean): void {
    const isLast = this.numLive === 1;
    if (isSilent) this.settle(index);
    else this.reject(index, error);
    this.context.cancelItem(index, error);
    if (!isLast) return;
    this.context.cancelAll(error);
    this.onAbandoned?.();
  }
}

/** Creates its signals on demand: most handlers never use them, and a controller per item is expensive. */
class LazyBatchContext implements BatchContext {
  readonly reason: CutReason;
  readonly #size: number;
  #controller: AbortController | undefined;
  #itemControllers: readonly AbortController[] | undefined;
  #itemSignals: readonly AbortSignal[] | undefined;
  #abandonedBecause: RequestCancelledError | undefined;
  #cancelled: Map<number, RequestCancelledError> | undefined;

  constructor(reason: CutReason, size: number) {
    this.reason = reason;
    this.#size = size;
  }

  get signal(): AbortSignal {
    this.#controller ??= controllerAbortedBy(this.#abandonedBecause);
    return this.#controller.signal;
  }

  get itemSignals(): readonly AbortSignal[] {
    return (this.#itemSignals ??= this.#createItemSignals());
  }

  cancelItem(index: number, error: RequestCancelledError): void {
    this.#cancelled ??= new Map();
    this.#cancelled.set(index, error);
    this.#itemControllers?.[index]?.abort(error);
  }

  cancelAll(error: RequestCancelledError): void {
    this.#abandonedBecause = error;
    this.#controller?.abort(error);
  }

  #createItemSignals(): readonly AbortSignal[] {
    this.#itemControllers = Array.from({ length: this.#size }, (_, index) =>
      controllerAbortedBy(this.#cancelled?.get(index)),
    );
    return this.#itemControllers.map((controller) => controller.signal);
  }
}

function controllerAbortedBy(error: RequestCancelledError | undefined): AbortController {
  const controller = createAbortController();
  if (error) controller.abort(error);
  return controller;
}
