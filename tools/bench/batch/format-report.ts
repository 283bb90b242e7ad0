import type { BenchReport } from './compare.ts';
import { NUM_ITEMS, NUM_ROUNDS } from './measure.ts';

/** Two Markdown tables. */
export function formatReport({ numRuns, contenders, cancel }: BenchReport): string {
  return [
    `${NUM_ITEMS} items submitted in one turn, ${NUM_ROUNDS} times over, in ${numRuns} interleaved runs; ` +
      'each contender has a process of its own, and pays for its own collections',
    '',
    '| | items/s p50 | lowest | highest | times batch | heap bytes per queued item |',
    '|---|---:|---:|---:|---:|---:|',
    ...contenders.map(
      ({ name, itemsPerSecond: { median, min, max }, timesBatch, heapBytesPerQueuedItem }) =>
        `| ${name} | ${Math.round(median)} | ${Math.round(min)} | ${Math.round(max)} ` +
        `| ${timesBatch.toFixed(2)} | ${heapBytesPerQueuedItem.toFixed(0)} |`,
    ),
    '',
    '| queued, cancelled in random order | enqueue ns per item | cancel ns per item |',
    '|---:|---:|---:|',
    ...cancel.map(
      ({ numQueued, enqueueNsPerItem, cancelNsPerItem }) =>
        `| ${numQueued} | ${enqueueNsPerItem.toFixed(0)} | ${cancelNsPerItem.toFixed(0)} |`,
    ),
  ].join('\n');
}
