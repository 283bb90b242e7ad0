import type { BenchReport } from './measure.ts';

/** Two Markdown tables. */
export function formatReport({ numItems, numRounds, contenders, cancel }: BenchReport): string {
  return [
    `${numItems} items submitted in one turn, median and p95 of ${numRounds} interleaved rounds`,
    '',
    '| | items/s p50 | items/s p95 | times batch | heap bytes per queued item |',
    '|---|---:|---:|---:|---:|',
    ...contenders.map(
      ({ name, itemsPerSecond, timesBatch, heapBytesPerQueuedItem }) =>
        `| ${name} | ${Math.round(itemsPerSecond.p50)} | ${Math.round(itemsPerSecond.p95)} ` +
        `| ${timesBatch.toFixed(2)} | ${heapBytesPerQueuedItem?.toFixed(0) ?? 'not measured'} |`,
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
