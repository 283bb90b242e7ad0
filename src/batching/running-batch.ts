import { createAbortController, type AbortController, type AbortSignal } from './abort-signal.ts';
import type { BatchContext, CutReason } from './batch-options.ts';
import type { Call, CallHolder } from './call-queue.ts';
import type { RequestCancelledError } from './errors.ts';

/** A batch in its handler's hands: who still waits for an answer, and the signals that tell the handler who left. */
export class RunningBatch<Item, To> implements CallHolder<Item, To> {
  readonly calls: readonly Call<Item, To>[];
  readonly items: readonly Item[];
  readonly context: LazyBatchContext;
  /** Members that wait for an answer. */
  numLive: number;
  numRejected = 0;
  /** Called once if the last live member cancels. */
  onAbandoned: (() => void) | undefined;

  constructor(calls: readonly Call<Item, To>[], reason: CutReason) {
    this.calls = calls;
    this.items = calls.map((call) => call.item);
    this.context = new LazyBatchContext(reason, calls);
    this.numLive = calls.length;
    for (const call of calls) {
      if (call.holder) call.holder = this;
    }
  }

  /** Marks `call` as answered; false if it was before, in which case the caller must be left alone. */
  settle(call: Call<Item, To>): boolean {
    if (call.isSettled) return false;
    call.settle();
    this.numLive--;
    return true;
  }

  reject(call: Call<Item, To>, error: unknown): void {
    if (!this.settle(call)) return;
    this.numRejected++;
    call.reject(error);
  }

  rejectAll(error: unknown): void {
    for (const call of this.calls) this.reject(call, error);
  }

  /** The handler learns last: its abort listeners may call back into the batcher. */
  cancel(call: Call<Item, To>, error: RequestCancelledError, isSilent: boolean): void {
    const isLast = this.numLive === 1;
    if (isSilent) this.settle(call);
    else this.reject(call, error);
    this.context.cancelItem(call, error);
    if (!isLast) return;
    this.context.cancelAll(error);
    this.onAbandoned?.();
  }
}

/** Makes its signals when the handler asks for them: most handlers never do, and a controller per item is dear. */
class LazyBatchContext implements BatchContext {
  readonly reason: CutReason;
  readonly #members: readonly object[];
  #controller: AbortController | undefined;
  #itemControllers: Map<object, AbortController> | undefined;
  #itemSignals: readonly AbortSignal[] | undefined;
  #abandonedBecause: RequestCancelledError | undefined;
  #cancelled: Map<object, RequestCancelledError> | undefined;

  constructor(reason: CutReason, members: readonly object[]) {
    this.reason = reason;
    this.#members = members;
  }

  get signal(): AbortSignal {
    this.#controller ??= controllerAbortedBy(this.#abandonedBecause);
    return this.#controller.signal;
  }

  get itemSignals(): readonly AbortSignal[] {
    return (this.#itemSignals ??= this.#createItemSignals());
  }

  cancelItem(member: object, error: RequestCancelledError): void {
    this.#cancelled ??= new Map();
    this.#cancelled.set(member, error);
    this.#itemControllers?.get(member)?.abort(error);
  }

  cancelAll(error: RequestCancelledError): void {
    this.#abandonedBecause = error;
    this.#controller?.abort(error);
  }

  #createItemSignals(): readonly AbortSignal[] {
    const controllers = new Map<object, AbortController>();
    for (const member of this.#members) {
      controllers.set(member, controllerAbortedBy(this.#cancelled?.get(member)));
    }
    this.#itemControllers = controllers;
    return Array.from(controllers.values(), (controller) => controller.signal);
  }
}

function controllerAbortedBy(error: RequestCancelledError | undefined): AbortController {
  const controller = createAbortController();
  if (error) controller.abort(error);
  return controller;
}
