import { requireSize } from '../require-option.ts';
import type { CallQueue } from './call-queue.ts';

/** The limits of one batch; later changes apply to the next one. */
export interface BatchLimits {
  readonly maxBatchSize: number;
  readonly waitTimeoutMs: number;
}

/** The batch being formed: the calls from the front of the queue that fit its limits. They stay in the queue until the cut. */
export interface Gathering {
  readonly limits: BatchLimits;
  readonly numCalls: number;
  readonly measuredSize: number;
  /** The next call does not fit, so waiting longer cannot fill this batch. */
  readonly isDeferring: boolean;
  /** Adds calls that have arrived since. */
  extend(): void;
  /** A call has left the queue. */
  onLeft(): void;
}

/** Without `batchSizeFn`: every item counts as one. */
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

  onLeft(): void {}
}

/** With `batchSizeFn`, which is called once per item added, and again after a member was cancelled. */
export class MeasuredGathering<Item, To> implements Gathering {
  readonly limits: BatchLimits;
  measuredSize = 0;
  isDeferring = false;
  readonly #queue: CallQueue<Item, To>;
  readonly #batchSizeFn: (items: readonly Item[]) => number;
  /** Their orders. */
  #members: number[] = [];
  /** Those of the members, and of the call that is being added. */
  #items: Item[] = [];
  /** A call was cancelled. The remaining ones are measured once, at the next look. */
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

  get numCalls(): number {
    return this.#members.length;
  }

  extend(): void {
    for (;;) {
      while (this.#isStale) this.#measureSurvivors(); // measuring runs the user's code, which may cancel more
      const next = this.#queue.after(this.#members.at(-1));
      if (next === undefined || this.isDeferring || this.measuredSize >= this.limits.maxBatchSize) return;
      this.#add(next);
    }
  }

  onLeft(): void {
    this.#isStale = true;
  }

  #add(order: number): void {
    this.#items.push(this.#queue.itemOf(order));
    const size = this.#measureWith(order);
    const isWaiting = this.#queue.has(order);
    if (size !== undefined && isWaiting && size <= this.limits.maxBatchSize) {
      this.#members.push(order);
      this.measuredSize = size;
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
      this.measuredSize = isOne ? this.#queue.sizeOf(first) : this.#measure();
      if (this.measuredSize <= this.limits.maxBatchSize) return;
    } catch {
      // Adding them one by one finds the one that cannot be measured.
    }
    this.#members = [];
    this.#items = [];
    this.measuredSize = 0;
  }

  #measure(): number {
    return requireSize('batchSizeFn(items)', this.#batchSizeFn(this.#items));
  }
}
