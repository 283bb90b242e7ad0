import { batch } from '../../src/batching/batch.ts';
import { CONTENDERS, type Contender } from './contenders.ts';

// Runs unchanged in Node and in the browser: time is `performance`, and whoever can measure the heap passes that in.

export interface Measurement {
  readonly name: string;
  readonly itemsPerSecond: { readonly p50: number; readonly p95: number };
  /** Median over the rounds of this contender's items/s against `batch` in the same round: above 1 it is faster. */
  readonly timesBatch: number;
  readonly heapBytesPerQueuedItem: number | undefined;
}

export interface CancelMeasurement {
  readonly numQueued: number;
  readonly enqueueNsPerItem: number;
  readonly cancelNsPerItem: number;
}

export interface BenchReport {
  readonly numItems: number;
  readonly numRounds: number;
  readonly contenders: readonly Measurement[];
  readonly cancel: readonly CancelMeasurement[];
}

export interface BenchOptions {
  readonly numItems?: number;
  readonly numRounds?: number;
  readonly cancelSizes?: readonly number[];
  /** The live heap after a collection; left out where the platform cannot tell. */
  readonly usedHeapBytes?: () => number;
}

/** Everything, in one run, so that the ratios compare like with like. */
export async function measureAll({
  numItems = 1e5,
  numRounds = 9,
  cancelSizes = [1e5, 1e6],
  usedHeapBytes,
}: BenchOptions = {}): Promise<BenchReport> {
  const rates = await measureRates(numItems, numRounds);
  const contenders: Measurement[] = [];
  for (const [index, contender] of CONTENDERS.entries()) {
    const own = rates[index] ?? [];
    contenders.push({
      name: contender.name,
      itemsPerSecond: { p50: quantile(own, 0.5), p95: quantile(own, 0.95) },
      timesBatch: quantile(
        own.map((rate, round) => rate / (rates[0]?.[round] ?? Number.NaN)),
        0.5,
      ),
      heapBytesPerQueuedItem: usedHeapBytes && (await measureHeap(contender, numItems, usedHeapBytes)),
    });
  }
  const cancel: CancelMeasurement[] = [];
  for (const numQueued of cancelSizes) cancel.push(await measureCancel(numQueued));
  return { numItems, numRounds, contenders, cancel };
}

/** Interleaved, each round starting with another contender, after one round that only warms up. */
async function measureRates(numItems: number, numRounds: number): Promise<number[][]> {
  const rates: number[][] = CONTENDERS.map(() => []);
  for (let round = -1; round < numRounds; round++) {
    for (let turn = 0; turn < CONTENDERS.length; turn++) {
      const index = (turn + round + 1) % CONTENDERS.length;
      const rate = await measureRate(CONTENDERS[index], numItems);
      if (round >= 0) rates[index]?.push(rate);
    }
  }
  return rates;
}

async function measureRate(contender: Contender | undefined, numItems: number): Promise<number> {
  const submitAll = contender?.create();
  const startMs = performance.now();
  await submitAll?.(numItems);
  return (numItems / (performance.now() - startMs)) * 1000;
}

/** What a queued item holds, its promise included. */
async function measureHeap(
  contender: Contender,
  numItems: number,
  usedHeapBytes: () => number,
): Promise<number> {
  const gate = Promise.withResolvers<void>();
  const submitAll = contender.create(gate.promise);
  const beforeBytes = usedHeapBytes();
  const answers = submitAll(numItems);
  const heldBytes = usedHeapBytes() - beforeBytes;
  gate.resolve();
  await answers;
  return heldBytes / numItems;
}

/** Queues calls behind a busy handler, then cancels them one by one in random order. */
async function measureCancel(numQueued: number): Promise<CancelMeasurement> {
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

/** As little of a signal as will do: a million real ones would measure the platform, not the batcher. */
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

function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN;
}
