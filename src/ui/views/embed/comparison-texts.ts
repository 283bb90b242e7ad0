import {
  describeFaster,
  formatCount,
  formatNumber,
  formatSeconds,
  formatShare,
  NO_VALUE,
} from '../../parts/format.ts';
import type { TrialFigure } from '../../panels/trials/policy-multiples.tsx';
import type { ComparisonView } from '../../panels/trials/run-trials.ts';
import type { EmbedTrial } from './embed-comparison.ts';
import { WAYS } from '../../panels/trials/ways.ts';

/** Vectors that differ less are the same: sums in another order round otherwise. */
const SAME_WITHIN = 1e-5;

/** `3.4× faster: 0.6 s in sorted batches, 2.1 s one by one.`, of the faster batches; what is compared until then. */
export function describeGain(trials: readonly EmbedTrial[]): string {
  const [alone, unsorted, sorted] = trials;
  if (!alone || !unsorted || !sorted) return 'The same lines, one by one and in batches';
  const isSorted = sorted.durationMs <= unsorted.durationMs;
  const { durationMs } = isSorted ? sorted : unsorted;
  const isSlower = describeFaster(alone.durationMs, durationMs) !== '';
  const same = isSlower ? 'Slower in batches' : 'About the same';
  const how = describeFaster(durationMs, alone.durationMs) || same;
  return `${how}: ${formatSeconds(durationMs)} in ${isSorted ? 'sorted ' : ''}batches, ${formatSeconds(alone.durationMs)} one by one.`;
}

/** How far the comparison is, then whether the vectors are the same. */
export function describeComparison({ isRunning, progress, trials }: ComparisonView<EmbedTrial>): string {
  if (progress) return `${progress.label}: ${formatCount(progress.numDone)}`;
  if (isRunning) return '';
  if (trials.length < WAYS.length) return 'Stopped.';
  const difference = Math.max(...trials.map((trial) => trial.difference));
  return difference <= SAME_WITHIN
    ? 'The vectors are the same each time, within 0.00001.'
    : `The vectors differ by at most ${difference.toPrecision(2)} in a number.`;
}

/** The figures of a trial, with bars on a scale that all trials share. */
export function figuresOfTrial(trial: EmbedTrial | undefined, trials: readonly EmbedTrial[]) {
  if (!trial) return ['Time', 'Texts/s', 'Padding', 'Batches'].map((name) => ({ name, value: NO_VALUE }));
  const shareOf = (read: (one: EmbedTrial) => number): number => read(trial) / Math.max(...trials.map(read));
  const ratio = (trials[0]?.durationMs ?? NaN) / trial.durationMs;
  return [
    {
      name: 'Time',
      value: formatSeconds(trial.durationMs),
      ratio: '',
      share: shareOf(({ durationMs }) => durationMs),
    },
    {
      name: 'Texts/s',
      value: formatNumber(rateOf(trial)),
      ratio: `${ratio.toFixed(1)}×`,
      share: shareOf(rateOf),
      color: '--series-e2e',
    },
    {
      name: 'Padding',
      value: formatShare(trial.paddingShare),
      ratio: '',
      share: trial.paddingShare,
      color: '--series-prefill',
    },
    {
      name: 'Batches',
      value: formatCount(trial.numBatches),
      ratio: '',
      share: shareOf(({ numBatches }) => numBatches),
    },
  ] satisfies readonly TrialFigure[];
}

function rateOf({ numTexts, durationMs }: EmbedTrial): number {
  return (numTexts * 1000) / durationMs;
}
