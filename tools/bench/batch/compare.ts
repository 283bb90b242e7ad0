import { spreadOf, type Spread } from '../statistics.ts';
import { CONTENDERS } from './contenders.ts';
import type { CancelMeasurement, Measurement } from './measure.ts';

const NUM_RUNS = 15;
const CANCEL_SIZES = [1e5, 1e6];

/** Measures each time in a new process, so that no contender pays for another's garbage or profits from its warm code. */
export interface Laboratory {
  measureContender(name: string): Promise<Measurement>;
  measureCancel(numQueued: number): Promise<CancelMeasurement>;
}

export interface ContenderReport {
  readonly name: string;
  readonly itemsPerSecond: Spread;
  /** Median over the runs of this contender's items/s against `batch` in the same run: above 1 it is faster. */
  readonly timesBatch: number;
  readonly heapBytesPerQueuedItem: number;
}

export interface BenchReport {
  readonly numRuns: number;
  readonly contenders: readonly ContenderReport[];
  readonly cancel: readonly CancelMeasurement[];
}

/** Runs are interleaved, so that a ratio compares neighbors in time; each starts with another contender. */
export async function compare(laboratory: Laboratory): Promise<BenchReport> {
  const measurements: Measurement[][] = CONTENDERS.map(() => []);
  for (let run = 0; run < NUM_RUNS; run++) {
    const inTurn = [...CONTENDERS.entries()];
    for (const [index, { name }] of [
      ...inTurn.slice(run % inTurn.length),
      ...inTurn.slice(0, run % inTurn.length),
    ]) {
      measurements[index]?.push(await laboratory.measureContender(name));
    }
  }
  const cancel: CancelMeasurement[] = [];
  for (const numQueued of CANCEL_SIZES) cancel.push(await laboratory.measureCancel(numQueued));
  const contenders = CONTENDERS.map(({ name }, index) =>
    reportContender(name, measurements[index] ?? [], measurements[0] ?? []),
  );
  return { numRuns: NUM_RUNS, contenders, cancel };
}

function reportContender(
  name: string,
  own: readonly Measurement[],
  ofBatch: readonly Measurement[],
): ContenderReport {
  const rates = own.map(({ itemsPerSecond }) => itemsPerSecond);
  return {
    name,
    itemsPerSecond: spreadOf(rates),
    timesBatch: spreadOf(rates.map((rate, run) => rate / (ofBatch[run]?.itemsPerSecond ?? Number.NaN)))
      .median,
    heapBytesPerQueuedItem: spreadOf(own.map(({ heapBytesPerQueuedItem }) => heapBytesPerQueuedItem)).median,
  };
}
