import type { JobInfo } from '../../../client/index.ts';
import { formatCount, formatNumber } from '../../parts/format.ts';

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

/** In the unit that a person plans with: seconds, minutes, hours. */
export function formatLeft(durationMs: number): string {
  const seconds = Math.max(1, Math.ceil(durationMs / 1000));
  if (seconds < 100) return `${seconds} s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 100) return `${minutes} min`;
  return `${formatNumber(minutes / 60)} h`;
}
