import type { ModelLoad, PrecisionPlan, StoredModel } from '../../../client/index.ts';
import { formatBytes, formatCount, formatMegabytes, formatNumber } from '../../parts/format.ts';

const PHASES: Readonly<Record<ModelLoad['phase'], string>> = {
  resolve: 'reading its configuration from the hub',
  download: 'downloading',
  convert: 'converting',
  prepare: 'preparing',
  check: 'checking the GPU',
  compile: 'warming up',
  drain: 'waiting for running requests',
};

const IN_BYTES: ReadonlySet<ModelLoad['phase']> = new Set(['download', 'convert', 'prepare']);

/** `downloading 12.0 of 548.1 MB, 3.40 MB/s, 3 min left` */
export function describeLoad(load: ModelLoad): string {
  const { phase, isPaused, loaded, total, bytesPerSecond, secondsLeft } = load;
  const parts = [isPaused ? 'paused' : PHASES[phase]];
  if (phase === 'resolve' && !isPaused && loaded > 0) parts.push(`no answer yet, try ${loaded + 1}`);
  if (IN_BYTES.has(phase) && total > 0)
    parts[0] += ` ${formatMegabytes(loaded)} of ${formatMegabytes(total)} MB`;
  if (bytesPerSecond) parts.push(`${formatNumber(bytesPerSecond / 1e6)} MB/s`);
  if (secondsLeft !== undefined) parts.push(`${describeSeconds(secondsLeft)} left`);
  return parts.join(', ');
}

/** Empty until it is known. */
export function describeMemory({ memoryBytes, dtype }: ModelLoad): string {
  if (memoryBytes === undefined || dtype === undefined) return '';
  const takes = describeNeed(memoryBytes, dtype);
  return dtype === 'q4' ? takes : `${takes} For less, cancel, choose a smaller precision, and load it again.`;
}

/** What picked files will take, or why they can't run. */
export function describePicked({ dtype, memoryBytes, obstacle }: PrecisionPlan): string {
  if (obstacle) return obstacle;
  const takes = describeNeed(memoryBytes, dtype);
  return dtype === 'q4' ? takes : `${takes} For less, choose a smaller precision.`;
}

function describeNeed(memoryBytes: number, dtype: string): string {
  return `It will take ${formatBytes(memoryBytes)} of memory in ${dtype}, with one text of full length.`;
}

/** `fp32, 652.3 MB`, or the progress of a download. */
export function describeStored({ dtype, storedBytes, totalBytes }: StoredModel): string {
  const stored = formatMegabytes(storedBytes);
  if (dtype) return `${dtype}, ${stored} MB`;
  return totalBytes > 0 ? `${stored} of ${formatMegabytes(totalBytes)} MB kept` : `${stored} MB kept`;
}

/** Says what deleting a running model does. */
export function describeDeletion({ id, revision }: StoredModel): string {
  const way =
    revision === '' ? 'To use it again, pick its files from your disk' : 'To use it again, download it';
  return `${id} is in use. It runs until its tab closes, then another model takes over. ${way}.`;
}

function describeSeconds(seconds: number): string {
  if (seconds < 90) return `${formatCount(Math.ceil(seconds))} s`;
  const minutes = Math.round(seconds / 60);
  return minutes < 90 ? `${minutes} min` : `${formatNumber(minutes / 60)} h`;
}
