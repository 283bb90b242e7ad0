import { requireSize } from '../base/validate.ts';
import type { CallQueue } from './call-queue.ts';

/** The limits of one batch; later changes apply to the next one. */
export interface BatchLimits {
  readonly maxBatchSize: number;
  readonly waitTimeoutMs: number;
}

/**
 * The batch being formed: the calls from the front of the queue that fit its limits. They stay in the queue until the cut.
 * `batchSizeFn` is called once per item added, and again after a member was cancelled. Without it every item counts as one.
 */
export class Gathering<Item, To> {
  readonly limits: BatchLimits;
  /** The next call does not fit, so waiting longer cannot fill this batch. */
  isDeferring = false;
  readonly #queue: CallQueue<Item, To>;
  readonly #batchSizeFn: ((items: readonly Item[]) => number) | undefined;
  #size = 0;
  /** The orders of the members. */
  #members: number[] = [];
  /** The items of the members, and of the call that is being added. */
  #items: Item[] = [];
  /** A call was cancelled. The remaining ones are measured once, at the next check. */
  #isStale = false;

  constructor(
    limits: BatchLimits,
    queue: CallQueue<Item, To>,
    batchSizeFn: ((items: readonly Item[]) => number) | undefined,
  ) {
    this.limits = limits;
    this.#queue = queue;
    this.#batchSizeFn = batchSizeFn;
  }

  get numCalls(): number {
    if (this.#batchSizeFn) return this.#members.length;
    return Math.min(this.#queue.length, this.limits.maxBatchSize);
  }

  get measuredSize(): number {
    return this.#batchSizeFn ? this.#size : this.numCalls;
  }

  /** Adds calls that have arrived since. */
  extend(): void {
    for (;;) {
      while (this.#isStale) this.#measureSurvivors(); // measuring runs the user's code, which may cancel more
      const next = this.#queue.after(this.#members.at(-1));
      if (next === undefined || this.isDeferring || this.#size >= this.limits.maxBatchSize) return;
      this.#add(next);
    }
  }

  /** A call has left the queue. */
  onLeft(): void {
    this.#isStale = true;
  }

  #add(order: number): void {
    this.#items.push(this.#queue.itemOf(order));
    const size = this.#measureWith(order);
    const isWaiting = this.#queue.has(order);
    if (size !== undefined && isWaiting && size <= this.limits.maxBatchSize) {
      this.#members.push(order);
      this.#size = size;
      return;
    }
    this.#items.pop();
    this.isDeferring = size !== undefined && isWaiting;
  }

  /** Undefined for a call that cannot be measured; it fails alone. */
  #measureWith(order: number): number | undefined {
    if (this.#members.length === 0) return this.#queue.sizeOf(order); // measured alone when it was submitted
    try {
      return this.#measure();
    } catch (error) {
      if (this.#queue.has(order)) this.#queue.remove(order)(error);
      return undefined;
    }
  }

  #measureSurvivors(): void {
    this.#isStale = false;
    this.isDeferring = false; // the deferred call may have left, or may fit now
    const survivors = this.#members.filter((order) => this.#queue.has(order));
    if (survivors.length === this.#members.length) return;
    this.#members = survivors;
    this.#items = survivors.map((order) => this.#queue.itemOf(order));
    try {
      const [first] = survivors;
      const isOne = first !== undefined && survivors.length === 1;
      this.#size = isOne ? this.#queue.sizeOf(first) : this.#measure();
      if (this.#size <= this.limits.maxBatchSize) return;
    } catch {
      // Adding them one by one finds the one that cannot be measured.
    }
    this.#members = [];
    this.#items = [];
    this.#size = 0;
  }

  #measure(): number {
    return requireSize('batchSizeFn(items)', this.#batchSizeFn?.(this.#items));
  }
}
