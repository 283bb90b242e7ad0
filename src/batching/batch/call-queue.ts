import type { CancelHandle } from './cancel-handle.ts';

type Reject = (error: unknown) => void;

/** Calls that have left the queue together. An index means the same call in every list. */
export interface TakenCalls<Item, To> {
  readonly items: readonly Item[];
  readonly tos: (To | undefined)[];
  readonly rejects: readonly Reject[];
  /** May be sparse. */
  readonly handles: readonly (CancelHandle | undefined)[];
  readonly oldestArrivalMs: number;
}

/** Large enough for long queues, small enough for a queue of one call: a chunk takes 16 kB. */
export const CHUNK_SIZE = 512;

/**
 * CHUNK_SIZE consecutive calls, with a list per attribute instead of an object per call. A linked list of objects was measured
 * to be a fifth slower with 10,000 waiting calls or more: the garbage collector copies them.
 */
class Chunk<Item, To> {
  readonly items = createSlots<Item | undefined>(CHUNK_SIZE);
  /** Take one result or many chunks. Undefined where no call waits. */
  readonly tos = createSlots<To | undefined>(CHUNK_SIZE);
  readonly rejects = createSlots<Reject | undefined>(CHUNK_SIZE);
  readonly arrivalsMs = createNumbers(CHUNK_SIZE);
  /** `batchSizeFn`'s value for the item alone. Sparse: 1 where missing. */
  readonly sizes: number[] = [];
  /** Sparse: only calls that can be cancelled have one. */
  readonly handles: (CancelHandle | undefined)[] = [];
  readonly firstOrder: number;
  numLeft = 0;

  constructor(firstOrder: number) {
    this.firstOrder = firstOrder;
  }

  /** Releases what a call holds: the chunk may live on. */
  leave(slot: number): void {
    this.items[slot] = undefined;
    this.tos[slot] = undefined;
    this.rejects[slot] = undefined;
    if (this.handles[slot]) this.handles[slot] = undefined;
    this.numLeft++;
  }
}

/**
 * The waiting calls, first come, first served. A call is identified by its order of arrival, which also gives its chunk, so a
 * call leaves from anywhere in O(log n). Chunks that all calls have left are dropped, so finding the next call is O(1).
 *
 *   order  0 .. 511    512 .. 1023    1024 .. 1535    1536 .. 2047
 *          dropped     . head  .      dropped         .  .  end
 */
export class CallQueue<Item, To> {
  /** In order of arrival. */
  readonly #chunks: Chunk<Item, To>[] = [];
  /** The order of the oldest call, if any waits. It is in the first chunk. */
  #head = 0;
  #end = 0;
  #length = 0;

  /** The order of the call that has waited longest. */
  get oldest(): number | undefined {
    return this.#length > 0 ? this.#head : undefined;
  }

  /** The order that the next call will have. */
  get end(): number {
    return this.#end;
  }

  get length(): number {
    return this.#length;
  }

  /** Returns the order of the call. */
  push(item: Item, to: To, reject: Reject, arrivedAtMs: number): number {
    const order = this.#end++;
    const slot = order % CHUNK_SIZE;
    if (slot === 0) this.#chunks.push(new Chunk(order));
    const chunk = known(this.#chunks.at(-1));
    chunk.items[slot] = item;
    chunk.tos[slot] = to;
    chunk.rejects[slot] = reject;
    chunk.arrivalsMs[slot] = arrivedAtMs;
    if (this.#length++ === 0) this.#head = order;
    return order;
  }

  /** For a call that does not measure 1. Called right after its `push`. */
  setSize(order: number, size: number): void {
    known(this.#chunks.at(-1)).sizes[order % CHUNK_SIZE] = size;
  }

  /** For a call that can be cancelled. Called right after its `push`. */
  setHandle(order: number, handle: CancelHandle): void {
    known(this.#chunks.at(-1)).handles[order % CHUNK_SIZE] = handle;
  }

  has(order: number): boolean {
    const chunk = this.#chunks[this.#indexOf(order)];
    return chunk?.tos[order - chunk.firstOrder] !== undefined;
  }

  /** The order of the call that leaves after this one, or of the first one. */
  after(order: number | undefined): number | undefined {
    if (order === undefined) return this.oldest;
    return this.#firstFrom(this.#indexOf(order), (order % CHUNK_SIZE) + 1);
  }

  itemOf(order: number): Item {
    return known(this.#chunkOf(order).items[order % CHUNK_SIZE]);
  }

  sizeOf(order: number): number {
    return this.#chunkOf(order).sizes[order % CHUNK_SIZE] ?? 1;
  }

  arrivedAtMs(order: number): number {
    return known(this.#chunkOf(order).arrivalsMs[order % CHUNK_SIZE]);
  }

  /** Takes a waiting call out and returns its `reject`. */
  remove(order: number): Reject {
    const { reject, handle } = this.takeOne(order);
    handle?.close();
    return reject;
  }

  /** Takes out the first `count` calls. At least that many must wait. */
  take(count: number): TakenCalls<Item, To> {
    const oldestArrivalMs = count > 0 ? this.arrivedAtMs(this.#head) : Infinity;
    const items = createSlots<Item>(count);
    const tos = createSlots<To | undefined>(count);
    const rejects = createSlots<Reject>(count);
    const handles: CancelHandle[] = [];
    let chunk = known(this.#chunks[0]);
    let slot = this.#head % CHUNK_SIZE;
    for (let index = 0; index < count; slot++) {
      if (slot === CHUNK_SIZE) {
        this.#chunks.shift();
        chunk = known(this.#chunks[0]);
        slot = 0;
      }
      if (chunk.tos[slot] === undefined) continue;
      items[index] = known(chunk.items[slot]);
      tos[index] = chunk.tos[slot];
      rejects[index] = known(chunk.rejects[slot]);
      const handle = chunk.handles[slot];
      if (handle) handles[index] = handle;
      chunk.leave(slot);
      index++;
    }
    this.#length -= count;
    this.#head = this.#firstFrom(0, slot) ?? this.#end;
    if (this.#chunks[0]?.numLeft === CHUNK_SIZE) this.#chunks.shift();
    return { items, tos, rejects, handles, oldestArrivalMs };
  }

  /** Takes a call out that waits anywhere. */
  protected takeOne(order: number) {
    const index = this.#indexOf(order);
    const chunk = known(this.#chunks[index]);
    const slot = order % CHUNK_SIZE;
    const call = {
      item: known(chunk.items[slot]),
      to: chunk.tos[slot],
      reject: known(chunk.rejects[slot]),
      handle: chunk.handles[slot],
      arrivedAtMs: known(chunk.arrivalsMs[slot]),
    };
    chunk.leave(slot);
    this.#length--;
    if (order === this.#head) this.#head = this.#firstFrom(index, slot) ?? this.#end;
    if (chunk.numLeft === CHUNK_SIZE) this.#chunks.splice(index, 1);
    return call;
  }

  /** The order of the first call that waits from `slot` of this chunk on. */
  #firstFrom(index: number, slot: number): number | undefined {
    if (this.#length === 0) return undefined;
    let firstSlot = slot;
    for (let each = index; each < this.#chunks.length; each++) {
      const { tos, firstOrder } = known(this.#chunks[each]);
      for (; firstSlot < CHUNK_SIZE; firstSlot++) {
        if (tos[firstSlot] !== undefined) return firstOrder + firstSlot;
      }
      firstSlot = 0;
    }
    return undefined;
  }

  #chunkOf(order: number): Chunk<Item, To> {
    return known(this.#chunks[this.#indexOf(order)]);
  }

  /** The index of the last chunk that begins at or before this order. */
  #indexOf(order: number): number {
    let low = 0;
    let high = this.#chunks.length;
    while (high - low > 1) {
      const middle = (low + high) >>> 1;
      if (known(this.#chunks[middle]).firstOrder <= order) low = middle;
      else high = middle;
    }
    return low;
  }
}

function createSlots<Value>(length: number): Value[] {
  // oxlint-disable-next-line unicorn/no-new-array -- allocates once: a list that grows is copied
  return new Array<Value>(length);
}

/**
 * Separate from `createSlots`, because an engine predicts a list's contents by the place that creates it. These lists hold
 * plain doubles; mixed lists would hold a 16-byte object for each.
 */
function createNumbers(length: number): number[] {
  // oxlint-disable-next-line unicorn/no-new-array -- as in `createSlots`
  return new Array<number>(length);
}

/** A value that exists because a call waits in its slot. */
function known<Value>(value: Value | undefined): Value {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- see above
  return value as Value;
}
