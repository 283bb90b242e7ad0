import type { Percentiles } from '../../../client/index.ts';
import type { LoadResults } from './load-session.ts';
import { LATENCIES, type Trial } from './summarize.ts';

type Cell = string | number | undefined;

const SHARES = ['p50', 'p95', 'p99'] as const satisfies (keyof Percentiles)[];

type Column = readonly [title: string, cellOf: (trial: Trial) => Cell];

/** A row for each trial. The titles have the units. */
export function loadCsv({ trials, latencyLimitMs }: LoadResults): string {
  const columns: readonly Column[] = [
    ['Run', ({ label }) => label],
    ['Rate (requests/s)', ({ rate }) => rate],
    ['Policy', ({ policy }) => policy.policy],
    ['Max batch size', ({ policy }) => policy.maxBatchSize],
    ['Batch wait timeout (ms)', ({ policy }) => policy.batchWaitTimeoutMs],
    ['Duration (ms)', ({ summary }) => summary.durationMs],
    ['Sent', ({ summary }) => summary.numSent],
    ['Finished', ({ summary }) => summary.numFinished],
    ['Rejected', ({ summary }) => summary.numRejected],
    ['Failed', ({ summary }) => summary.numFailed],
    ['Stopped', ({ summary }) => summary.numCancelled],
    ['Prompt tokens', ({ summary }) => summary.numPromptTokens],
    ['Output tokens', ({ summary }) => summary.numOutputTokens],
    ['Tokens/s', ({ summary }) => summary.tokensPerSecond],
    ['Requests/s', ({ summary }) => summary.requestsPerSecond],
    [`Goodput (requests/s within ${latencyLimitMs} ms)`, ({ summary }) => summary.goodputPerSecond],
    ...LATENCIES.flatMap(([title, figure]) =>
      SHARES.map((share): Column => [`${title} ${share} (ms)`, ({ summary }) => summary[figure]?.[share]]),
    ),
  ];
  const rows = trials.map((trial) => columns.map(([, cellOf]) => quote(cellOf(trial))));
  return [columns.map(([title]) => quote(title)), ...rows].map((row) => `${row.join(',')}\n`).join('');
}

function quote(cell: Cell): string {
  return typeof cell === 'string' ? `"${cell.replaceAll('"', '""')}"` : String(cell ?? '');
}
