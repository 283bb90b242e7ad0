import type { CallQueue } from './call-queue.ts';
import { requireSize } from '../require-option.ts';

/** The limits read for one batch; a setter called later governs the next one. */
export interface BatchLimits {
  readonly maxBatchSize: number;
  readonly waitTimeoutMs: number;
}

/** The batch being formed: how long a prefix of the queue fits its limits. Calls stay in the queue until the cut. */
export interface Gathering {
  readonly limits: BatchLimits;
  readonly numCalls: number;
  readonly measuredSize: number;
  /** The next waiting call does not fit, so waiting longer cannot fill this batch. */
  readonly isDeferring: boolean;
  /** Takes in what has arrived since. */
  extend(): void;
  /** The call is about to leave the queue. */
  forget(order: number): void;
}

/** Every item counts as one, so the queue's length says it all. */
export class CountedGathering<Item, To> implements Gathering {
  readonly limits: BatchLimits;
  readonly isDeferring = false;
  readonly #queue: CallQueue<Item, To>;

  constructor(limits: BatchLimits, queue: CallQueue<Item, To>) {
    this.limits = limits;
    this.#queue = queue;
  }

  get numCalls(): number {
    return Math.min(this.#queue.length, this.limits.maxBatchSize);
  }

  get measuredSize(): number {
    return this.numCalls;
  }

  extend(): void {}

  forget(): void {}
}

/** Sizes come from `batchSizeFn`, asked once per item added; only a cancelled member makes it measure again. */
export class MeasuredGathering<Item, To> implements Gathering {
  readonly limits: BatchLimits;
  numCalls = 0;
  measuredSize = 0;
  isDeferring = false;
  readonly #queue: CallQueue<Item, To>;
  readonly #batchSizeFn: (items: readonly Item[]) => number;
  /** The prefix ends with this call, which has left if it is stale; undefined while it is empty. */
  #last: number | undefined;
  /** The items of the prefix, unless it is stale. */
  #items: Item[] = [];
  /** A member was cancelled. The survivors are measured in one go when somebody looks, not once per cancellation. */
  #isStale = false;

  constructor(
    limits: BatchLimits,
    queue: CallQueue<Item, To>,
    batchSizeFn: (items: readonly Item[]) => number,
  ) {
    this.limits = limits;
    this.#queue = queue;
    this.#batchSizeFn = batchSizeFn;
  }

  extend(): void {
    for (;;) {
      if (this.#isStale) this.#measureSurvivors();
      const next = this.#last === undefined ? this.#queue.head : this.#queue.after(this.#last);
      if (next === undefined || this.isDeferring || this.measuredSize >= this.limits.maxBatchSize) return;
      this.#add(next);
    }
  }

  forget(order: number): void {
    this.isDeferring = false; // it may have been the one that did not fit
    if (this.#last === undefined || order > this.#last) return;
    this.numCalls--;
    this.#isStale = true;
  }

  #add(order: number): void {
    this.#items.push(this.#queue.itemOf(order));
    const size = this.#measureWith(order);
    const isWaiting = this.#queue.has(order);
    if (size !== undefined && isWaiting && size <= this.limits.maxBatchSize) {
      this.#last = order;
      this.numCalls++;
      this.measuredSize = size;
      return;
    }
    this.#items.pop();
    this.isDeferring = size !== undefined && isWaiting;
  }

  /** A call that cannot be measured fails alone, and the batch goes on without it. */
  #measureWith(order: number): number | undefined {
    if (this.numCalls === 0) return this.#queue.sizeOf(order); // measured alone when it was submitted
    try {
      return this.#measure();
    } catch (error) {
      if (this.#queue.has(order)) this.#queue.remove(order)(error);
      return undefined;
    }
  }

  #measureSurvivors(): void {
    this.#isStale = false;
    this.isDeferring = false;
    this.#takeSurvivors();
    try {
      this.measuredSize = this.numCalls > 1 ? this.#measure() : this.#sizeOfLast();
      if (this.measuredSize <= this.limits.maxBatchSize) return;
    } catch {
      // fewer items than were measured before, and yet they cannot be: find out which by adding them anew
    }
    this.#last = undefined;
    this.#items = [];
    this.numCalls = 0;
    this.measuredSize = 0;
  }

  #takeSurvivors(): void {
    this.#items = [];
    this.#last = undefined;
    let order = this.#queue.head;
    while (order !== undefined && this.#items.length < this.numCalls) {
      this.#items.push(this.#queue.itemOf(order));
      this.#last = order;
      order = this.#queue.after(order);
    }
  }

  #sizeOfLast(): number {
    return this.#last === undefined ? 0 : this.#queue.sizeOf(this.#last);
  }

  #measure(): number {
    return requireSize('batchSizeFn(items)', this.#batchSizeFn(this.#items));
  }
}
