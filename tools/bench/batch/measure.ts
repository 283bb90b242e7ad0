import { batch } from '../../../src/batching/batch.ts';
import { CONTENDERS, type Contender } from './contenders.ts';

// Runs in Node and in the browser. The caller measures the heap, which differs between them.

export const NUM_ITEMS = 1e5;
export const NUM_ROUNDS = 15;
const NUM_WARM_UP_ROUNDS = 5;

/** More than a young generation holds, in small arrays. */
const MAX_GARBAGE_ITEMS = 1e6;

/** One contender, in a process of its own. */
export interface Measurement {
  /** Over all rounds together, because a garbage collection slows only the round in which it falls. */
  readonly itemsPerSecond: number;
  readonly heapBytesPerQueuedItem: number;
}

export interface CancelMeasurement {
  readonly numQueued: number;
  readonly enqueueNsPerItem: number;
  readonly cancelNsPerItem: number;
}

/** `usedHeapBytes`: the live heap after a collection. */
export async function measureContender(name: string, usedHeapBytes: () => number): Promise<Measurement> {
  const contender = CONTENDERS.find((each) => each.name === name);
  if (!contender) throw new Error(`No contender is called "${name}".`);
  for (let round = 0; round < NUM_WARM_UP_ROUNDS; round++) await timeRound(contender);
  let totalMs = 0;
  for (let round = 0; round < NUM_ROUNDS; round++) totalMs += await timeRound(contender);
  return {
    itemsPerSecond: ((NUM_ROUNDS * NUM_ITEMS) / totalMs) * 1000,
    heapBytesPerQueuedItem: await measureHeap(contender, usedHeapBytes),
  };
}

async function timeRound(contender: Contender): Promise<number> {
  makeGarbage(Math.random() * MAX_GARBAGE_ITEMS);
  const submitAll = contender.create();
  const startMs = performance.now();
  await submitAll(NUM_ITEMS);
  return performance.now() - startMs;
}

/**
 * Makes a random amount, so that collections fall anywhere in the rounds. Otherwise a contender whose rounds just fill the young
 * generation would always be collected between rounds, when nothing is alive.
 */
function makeGarbage(numItems: number): void {
  let last: readonly number[] = [];
  for (let item = 0; item < numItems; item++) last = [item, last.length];
}

/** Bytes that a queued item holds, its promise included. */
async function measureHeap(contender: Contender, usedHeapBytes: () => number): Promise<number> {
  const gate = Promise.withResolvers<void>();
  const submitAll = contender.create(gate.promise);
  const beforeBytes = usedHeapBytes();
  const answers = submitAll(NUM_ITEMS);
  const heldBytes = usedHeapBytes() - beforeBytes;
  gate.resolve();
  await answers;
  return heldBytes / NUM_ITEMS;
}

/** Queues calls behind a busy handler, then cancels them one by one in random order. */
export async function measureCancel(numQueued: number): Promise<CancelMeasurement> {
  const gate = Promise.withResolvers<void>();
  const call = batch(async (items: readonly number[]) => {
    await gate.promise;
    return items;
  });
  const busy = call(-1);
  const signals = Array.from({ length: numQueued }, () => new BareSignal());
  let numRejected = 0;
  const countRejected = (): void => void numRejected++;
  const enqueueStartMs = performance.now();
  for (const [item, signal] of signals.entries())
    call(item, { signal: signal.asAbortSignal() }).catch(countRejected);
  const cancelStartMs = performance.now();
  for (const [index, signal] of shuffled(signals).entries()) {
    signal.abort();
    if (index % 1000 === 999) await Promise.resolve(); // lets the rejections out, as a page would
  }
  await Promise.resolve();
  const endMs = performance.now();
  if (call.queueLength !== 0)
    throw new Error(`${call.queueLength} calls still wait after all were cancelled`);
  gate.resolve();
  await busy;
  if (numRejected !== numQueued)
    throw new Error(`${numRejected} of ${numQueued} cancelled calls were rejected`);
  return {
    numQueued,
    enqueueNsPerItem: ((cancelStartMs - enqueueStartMs) / numQueued) * 1e6,
    cancelNsPerItem: ((endMs - cancelStartMs) / numQueued) * 1e6,
  };
}

/** A minimal signal, because a million real ones would measure the platform, not the batcher. */
class BareSignal {
  aborted = false;
  readonly reason = 'cancelled';
  #listener: (() => void) | undefined;

  addEventListener(_: 'abort', listener: () => void): void {
    this.#listener = listener;
  }

  removeEventListener(): void {
    this.#listener = undefined;
  }

  abort(): void {
    this.aborted = true;
    this.#listener?.();
  }

  /** The four members above are all that the batcher uses. */
  asAbortSignal(): AbortSignal {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- see above
    return this as unknown as AbortSignal;
  }
}

/** Fisher–Yates on a fixed sequence of numbers, so that every run cancels in the same order. */
function shuffled<Value>(values: readonly Value[]): Value[] {
  const order = [...values];
  let state = 1;
  for (let last = order.length - 1; last > 0; last--) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    const other = Math.floor((state / 2 ** 32) * (last + 1));
    order.splice(other, 1, ...order.splice(last, 1, ...order.slice(other, other + 1)));
  }
  return order;
}
