import type { CancelHandle } from '../cancel-handle.ts';

type Reject = (error: unknown) => void;

/** Calls that have left the queue together. An index means the same call in every list. */
export interface TakenCalls<Item, To> {
  readonly items: Item[];
  readonly tos: (To | undefined)[];
  readonly rejects: Reject[];
  /** Sparse. */
  readonly handles: CancelHandle[];
  oldestArrivalMs: number;
}

/** Large enough for long queues, small enough for a queue of one call: a chunk takes 16 kB. */
export const CHUNK_SIZE = 512;

/**
 * CHUNK_SIZE consecutive calls, with a list per attribute instead of an object per call. A linked list of objects was measured
 * to be a fifth slower with 10,000 waiting calls or more: the garbage collector copies them.
 */
class Chunk<Item, To> {
  readonly items = createSlots<Item | undefined>(CHUNK_SIZE);
  /** Where success goes: one result or many chunks. Undefined where no call waits. */
  readonly tos = createSlots<To | undefined>(CHUNK_SIZE);
  readonly rejects = createSlots<Reject | undefined>(CHUNK_SIZE);
  readonly arrivalsMs = createNumbers(CHUNK_SIZE);
  /** `batchSizeFn`'s value for the item alone. Sparse: 1 where missing. */
  readonly sizes: number[] = [];
  /** Sparse: only calls that can be cancelled have one. */
  readonly handles: (CancelHandle | undefined)[] = [];
  readonly firstOrder: number;
  previous: Chunk<Item, To> | undefined;
  next: Chunk<Item, To> | undefined;
  numLeft = 0;

  constructor(firstOrder: number, previous: Chunk<Item, To> | undefined) {
    this.firstOrder = firstOrder;
    this.previous = previous;
  }

  moveTo(taken: TakenCalls<Item, To>, index: number, slot: number): void {
    taken.items[index] = known(this.items[slot]);
    taken.tos[index] = this.tos[slot];
    taken.rejects[index] = known(this.rejects[slot]);
    const handle = this.handles[slot];
    if (handle) taken.handles[index] = handle;
    taken.oldestArrivalMs = Math.min(taken.oldestArrivalMs, known(this.arrivalsMs[slot]));
    this.leave(slot);
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
 * call leaves from anywhere in O(1). Empty chunks are dropped, so finding the next call is O(1) too.
 *
 *   order  0 .. 511    512 .. 1023    1024 .. 1535    1536 .. 2047
 *          dropped     . head  .  <->  dropped   <->  .  .  end
 */
export class CallQueue<Item, To> {
  /** By order / CHUNK_SIZE, rounded down. */
  readonly #chunks = new Map<number, Chunk<Item, To>>();
  #tail: Chunk<Item, To> | undefined;
  /** The order of the oldest call, if any waits. */
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
  push(
    item: Item,
    to: To,
    reject: Reject,
    size: number,
    arrivedAtMs: number,
    handle: CancelHandle | undefined,
  ): number {
    const order = this.#end++;
    const slot = order % CHUNK_SIZE;
    const chunk = slot === 0 ? this.#addChunk(order) : known(this.#tail);
    chunk.items[slot] = item;
    chunk.tos[slot] = to;
    chunk.rejects[slot] = reject;
    chunk.arrivalsMs[slot] = arrivedAtMs;
    if (size !== 1) chunk.sizes[slot] = size;
    if (handle) chunk.handles[slot] = handle;
    if (this.#length++ === 0) this.#head = order;
    return order;
  }

  has(order: number): boolean {
    return this.#chunks.get(Math.floor(order / CHUNK_SIZE))?.tos[order % CHUNK_SIZE] !== undefined;
  }

  /** The order of the call that leaves after this one, or of the first one. */
  after(order: number | undefined): number | undefined {
    if (order === undefined) return this.oldest;
    return firstFrom(this.#chunkOf(order), (order % CHUNK_SIZE) + 1);
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
    const chunk = this.#chunkOf(order);
    const slot = order % CHUNK_SIZE;
    const reject = known(chunk.rejects[slot]);
    const handle = chunk.handles[slot];
    chunk.leave(slot);
    this.#hasLeft(chunk, order);
    handle?.close();
    return reject;
  }

  /** Takes the first `count` calls out; so many wait. */
  take(count: number): TakenCalls<Item, To> {
    const taken = createTaken<Item, To>(count);
    for (let index = 0; index < count;) {
      const chunk = this.#chunkOf(this.#head);
      let slot = this.#head % CHUNK_SIZE;
      for (; slot < CHUNK_SIZE && index < count; slot++) {
        if (chunk.tos[slot] !== undefined) chunk.moveTo(taken, index++, slot);
      }
      this.#head = firstFrom(chunk, slot) ?? this.#end;
      if (chunk.numLeft === CHUNK_SIZE) this.#drop(chunk);
    }
    this.#length -= count;
    return taken;
  }

  /** Takes these calls out, in this order. */
  protected takeEach(orders: readonly number[]): TakenCalls<Item, To> {
    const taken = createTaken<Item, To>(orders.length);
    for (const [index, order] of orders.entries()) {
      const chunk = this.#chunkOf(order);
      chunk.moveTo(taken, index, order % CHUNK_SIZE);
      this.#hasLeft(chunk, order);
    }
    return taken;
  }

  #hasLeft(chunk: Chunk<Item, To>, order: number): void {
    this.#length--;
    if (order === this.#head) this.#head = firstFrom(chunk, order % CHUNK_SIZE) ?? this.#end;
    if (chunk.numLeft === CHUNK_SIZE) this.#drop(chunk);
  }

  #addChunk(firstOrder: number): Chunk<Item, To> {
    const chunk = new Chunk(firstOrder, this.#tail);
    if (this.#tail) this.#tail.next = chunk;
    this.#tail = chunk;
    this.#chunks.set(firstOrder / CHUNK_SIZE, chunk);
    return chunk;
  }

  #drop(chunk: Chunk<Item, To>): void {
    const { previous, next } = chunk;
    if (previous) previous.next = next;
    if (next) next.previous = previous;
    else this.#tail = previous;
    chunk.next = undefined; // a dropped chunk must not keep later ones alive
    this.#chunks.delete(chunk.firstOrder / CHUNK_SIZE);
  }

  #chunkOf(order: number): Chunk<Item, To> {
    return known(this.#chunks.get(Math.floor(order / CHUNK_SIZE)));
  }
}

/** The order of the first call that waits from `slot` of `from` on. */
function firstFrom<Item, To>(from: Chunk<Item, To>, slot: number): number | undefined {
  let firstSlot = slot;
  for (let chunk: Chunk<Item, To> | undefined = from; chunk; chunk = chunk.next) {
    for (; firstSlot < CHUNK_SIZE; firstSlot++) {
      if (chunk.tos[firstSlot] !== undefined) return chunk.firstOrder + firstSlot;
    }
    firstSlot = 0;
  }
  return undefined;
}

function createTaken<Item, To>(count: number): TakenCalls<Item, To> {
  return {
    items: createSlots(count),
    tos: createSlots(count),
    rejects: createSlots(count),
    handles: [],
    oldestArrivalMs: Infinity,
  };
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
