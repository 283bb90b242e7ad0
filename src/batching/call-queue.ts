import type { RequestCancelledError } from './errors.ts';

/** Who has a call at the moment: the batcher while it waits, then the batch that it is a member of. */
export interface CallHolder<Item, To> {
  cancel(call: Call<Item, To>, error: RequestCancelledError, isSilent: boolean): void;
}

/**
 * One call from its arrival to its answer. A queue may hold a hundred thousand, and a collector's time goes by the bytes
 * that survive: hence one flat record, and no link that most calls never follow.
 */
export class Call<Item, To> {
  readonly item: Item;
  /** Where success goes. What it looks like (one result, many chunks) is not the queue's business. */
  readonly to: To;
  readonly reject: (error: unknown) => void;
  /** What `batchSizeFn` says of this item alone; 1 without one. */
  readonly size: number;
  readonly arrivedAtMs: number;
  /** Position in the order of arrival, so that "waited when flush() was called" is one comparison. */
  readonly order: number;
  /** Undefined for a call that cannot be cancelled, and once it is settled. */
  holder: CallHolder<Item, To> | undefined;
  /** Stops listening to the caller's signal; set only for a call that came with one. */
  stopListening: (() => void) | undefined;
  isSettled = false;
  /** The queue's own. */
  next: Call<Item, To> | undefined;

  constructor(
    item: Item,
    to: To,
    reject: (error: unknown) => void,
    size: number,
    arrivedAtMs: number,
    order: number,
    holder: CallHolder<Item, To> | undefined,
  ) {
    this.item = item;
    this.to = to;
    this.reject = reject;
    this.size = size;
    this.arrivedAtMs = arrivedAtMs;
    this.order = order;
    this.holder = holder;
  }

  settle(): void {
    this.isSettled = true;
    this.holder = undefined; // a call may be old when its batch is young: the link would keep the batch from collection
    this.stopListening?.();
  }
}

/**
 * The waiting calls, first come first: a linked list through the calls themselves. A call that leaves from the middle
 * stays linked, marked as settled, until such calls outnumber the waiting ones; then one walk drops them all. So leaving
 * is O(1) on average, without a second link in every call.
 *
 *   head -> a -> (b) -> c <- tail      (b) has left: it does not count, and nobody is shown it
 */
export class CallQueue<Item, To> {
  /** Waits, whenever anything does. */
  #head: Call<Item, To> | undefined;
  #tail: Call<Item, To> | undefined;
  #length = 0;
  /** Calls that have left and are still linked. */
  #numLeft = 0;

  get head(): Call<Item, To> | undefined {
    return this.#head;
  }

  get length(): number {
    return this.#length;
  }

  /** The next call that waits behind `call`, which waits itself. */
  after(call: Call<Item, To>): Call<Item, To> | undefined {
    let { next } = call;
    while (next?.isSettled) ({ next } = next);
    return next;
  }

  push(call: Call<Item, To>): void {
    if (this.#tail) this.#tail.next = call;
    else this.#head = call;
    this.#tail = call;
    this.#length++;
  }

  /** The caller settles the call in full. */
  remove(call: Call<Item, To>): void {
    call.isSettled = true;
    this.#length--;
    this.#numLeft++;
    this.#advance(this.#head);
    if (this.#head && this.#numLeft > this.#length) this.#sweep(this.#head);
  }

  /** Removes the first `count` calls. */
  take(count: number): Call<Item, To>[] {
    const taken: Call<Item, To>[] = [];
    for (let call = this.#head; call && taken.length < count; call = this.#head) {
      taken.push(call);
      this.#advance(unlink(call));
    }
    this.#length -= taken.length;
    return taken;
  }

  /** Makes `call`, or the first one behind it that waits, the head. */
  #advance(call: Call<Item, To> | undefined): void {
    let head = call;
    for (; head?.isSettled; head = unlink(head)) this.#numLeft--;
    this.#head = head;
    if (!head) this.#tail = undefined;
  }

  #sweep(head: Call<Item, To>): void {
    let last = head;
    for (let call = unlink(head); call;) {
      const next = unlink(call);
      if (!call.isSettled) {
        last.next = call;
        last = call;
      }
      call = next;
    }
    this.#tail = last;
    this.#numLeft = 0;
  }
}

/** A call that has left must not keep later ones from collection. Returns what it was linked to. */
function unlink<Item, To>(call: Call<Item, To>): Call<Item, To> | undefined {
  const { next } = call;
  call.next = undefined;
  return next;
}
