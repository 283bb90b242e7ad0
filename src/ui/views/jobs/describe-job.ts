import { connectionsTo, ROWS_AT_SERVER, type JobInfo, type TabserveStatus } from '../../../client/index.ts';
import { countOf, formatCompact, formatCount, formatNumber, formatSeconds } from '../../parts/format.ts';
import type { Run } from '../../state/run.ts';

const STATES: Readonly<Record<JobInfo['state'], string>> = {
  queued: 'Waits for the job before it',
  running: 'Running',
  paused: 'Paused',
  finished: 'Finished',
  cancelled: 'Cancelled',
  failed: 'Failed',
};

/**
 * `Running: 1,204 of 5,000 rows, 3 failed`
 *
 * @param isNext No other job comes before it.
 * @param isPausing Its rows in flight still end.
 */
export function describeJob(
  { state, counts }: Pick<JobInfo, 'state' | 'counts'>,
  isNext: boolean,
  isPausing = false,
): string {
  const { total, finished, failed } = counts;
  const done = finished + failed;
  const share = done === total ? formatCount(total) : `${formatCount(done)} of ${formatCount(total)}`;
  const errors = failed > 0 ? `, ${formatCount(failed)} failed` : '';
  const waits = state === 'queued' && isNext ? 'Waits for the model' : STATES[state];
  const stands = isPausing ? 'Pausing' : waits;
  return `${stands}: ${share} ${total === 1 ? 'row' : 'rows'}${errors}`;
}

/** `12.3 rows/s · 340 tokens/s · about 5 min left`; undefined while it doesn't run. */
export function describeSpeed({ progress }: Pick<JobInfo, 'progress'>): string | undefined {
  if (!progress) return undefined;
  const { rowsPerSecond, tokensPerSecond, remainingMs } = progress;
  const left = remainingMs === undefined ? [] : [`about ${formatLeft(remainingMs)} left`];
  return [`${formatNumber(rowsPerSecond)} rows/s`, `${formatNumber(tokensPerSecond)} tokens/s`, ...left].join(
    ' · ',
  );
}

/** `2 min 34 s · 3.24 rows/s · 12,300 tokens read, 5,400 written`; undefined before the first row is done. */
export function describeTotals({ totals, counts }: Pick<JobInfo, 'totals' | 'counts'>): string | undefined {
  if (!totals) return undefined;
  const { durationMs, numRows, numPromptTokens, numOutputTokens } = totals;
  // Rows of a browser that was killed, and of an earlier version, are not in it.
  const most = numRows < counts.finished + counts.failed ? 'at least ' : '';
  const written = numOutputTokens > 0 ? `, ${formatCount(numOutputTokens)} written` : '';
  return [
    `${most}${formatTook(durationMs)}`,
    `${formatNumber((numRows * 1000) / durationMs)} rows/s`,
    `${countOf(numPromptTokens, 'token')} read${written}`,
  ].join(' · ');
}

/** What rows took that were tried together. */
export interface TriedRows {
  readonly numRows: number;
  readonly durationMs: number;
  readonly numPromptTokens: number;
  readonly numOutputTokens: number;
}

/**
 * Rows that a job runs at a time.
 *
 * @param pageUrl A page asks the server that it is connected to through its own.
 */
export function rowsTogether(
  { backend, policy: { policy, maxBatchSize } }: Pick<TabserveStatus, 'backend' | 'policy'>,
  pageUrl: string,
): number {
  if (backend?.name === 'server') return Math.min(ROWS_AT_SERVER, connectionsTo(pageUrl));
  return policy === 'off' ? 1 : maxBatchSize;
}

/**
 * `Estimate for 500 rows: 2 min to 5 min, about 31K tokens read and 8K written.`
 *
 * @param numTogether Rows that the job runs at a time. A step of them takes at least as long as one of those that were tried.
 */
export function describeEstimate(tried: TriedRows, numRows: number, numTogether: number): string {
  const perRow = numRows / tried.numRows;
  const mostMs = perRow * tried.durationMs;
  const leastMs = mostMs * Math.min(1, tried.numRows / numTogether);
  const [least, most] = [formatLeft(leastMs), formatLeft(mostMs)];
  const time = least === most ? `about ${most}` : `${least} to ${most}`;
  const [read, written] = [tried.numPromptTokens, tried.numOutputTokens].map((numTokens) =>
    formatCompact(perRow * numTokens),
  );
  return `Estimate for ${countOf(numRows, 'row')}: ${time}, about ${read} tokens read and ${written} written.`;
}

/** Exact enough for the rate beside it. */
function formatTook(durationMs: number): string {
  const seconds = Math.round(durationMs / 1000);
  if (seconds < 100) return formatSeconds(durationMs);
  const minutes = Math.floor(seconds / 60);
  if (minutes < 100) return `${minutes} min ${seconds % 60} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** In the unit that a person plans with: seconds, minutes, hours. */
export function formatLeft(durationMs: number): string {
  const seconds = Math.max(1, Math.ceil(durationMs / 1000));
  if (seconds < 100) return `${seconds} s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 100) return `${minutes} min`;
  return `${formatNumber(minutes / 60)} h`;
}

/** What the figures and charts leave out of a run that is too long to read whole. */
export function describeCharted(run: Pick<Run, 'isPart'> | undefined): string | undefined {
  return run?.isPart
    ? 'Many rows a second: the figures and charts cover the newest, 500 at most.'
    : undefined;
}
