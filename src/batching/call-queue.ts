import type { RequestCancelledError } from './errors.ts';

/** Where a call's answer goes. What success looks like (one result, many chunks) is not the queue's business. */
export interface Caller {
  reject(error: unknown): void;
}

/** The batch that a running call is a member of. */
export interface CallHolder<Item, To extends Caller> {
  cancel(call: Call<Item, To>, error: RequestCancelledError, isSilent: boolean): void;
}

/** One call from its arrival to its answer. */
export class Call<Item, To extends Caller> {
  readonly item: Item;
  readonly caller: To;
  /** What `batchSizeFn` says of this item alone; 1 without one. */
  readonly size: number;
  readonly arrivedAtMs: number;
  /** Position in the order of arrival, so that "waited when flush() was called" is one comparison. */
  readonly order: number;
  /** Stops listening to the caller's signal; set only for a call that came with one. */
  stopListening: (() => void) | undefined;
  /** Undefined while the call waits. */
  batch: CallHolder<Item, To> | undefined;
  isSettled = false;
  previous: Call<Item, To> | undefined;
  next: Call<Item, To> | undefined;

  constructor(item: Item, caller: To, size: number, arrivedAtMs: number, order: number) {
    this.item = item;
    this.caller = caller;
    this.size = size;
    this.arrivedAtMs = arrivedAtMs;
    this.order = order;
  }

  settle(): void {
    this.isSettled = true;
    this.batch = undefined; // a call may be old when its batch is young: the link would keep the batch from collection
    this.stopListening?.();
  }
}

/**
 * The waiting calls, first come first. A doubly linked list through the calls themselves: a call that is cancelled
 * leaves the middle in O(1), where an array would shift or keep a tombstone that counts towards the length.
 *
 *   head -> a <-> b <-> c <- tail      remove(b):  a <-> c
 */
export class CallQueue<Item, To extends Caller> {
  head: Call<Item, To> | undefined;
  #tail: Call<Item, To> | undefined;
  #length = 0;

  get length(): number {
    return this.#length;
  }

  push(call: Call<Item, To>): void {
    if (this.#tail) {
      this.#tail.next = call;
      call.previous = this.#tail;
    } else {
      this.head = call;
    }
    this.#tail = call;
    this.#length++;
  }

  remove(call: Call<Item, To>): void {
    const { previous, next } = call;
    if (previous) previous.next = next;
    else this.head = next;
    if (next) next.previous = previous;
    else this.#tail = previous;
    call.previous = undefined;
    call.next = undefined;
    this.#length--;
  }

  /** Removes the first `count` calls. */
  take(count: number): Call<Item, To>[] {
    const taken: Call<Item, To>[] = [];
    let call = this.head;
    for (; call && taken.length < count; call = this.head) {
      taken.push(call);
      this.head = call.next;
      call.next = undefined;
      call.previous = undefined;
    }
    this.#length -= taken.length;
    if (call) call.previous = undefined;
    else this.#tail = undefined;
    return taken;
  }
}
