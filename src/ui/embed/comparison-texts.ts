import { formatCount, formatNumber } from '../parts/format.ts';
import type { TrialFigure } from '../compare/policy-multiples.tsx';
import { describeFaster, formatSeconds } from '../requests/run-text.ts';
import { formatShare } from '../watch/encoder-charts.ts';
import { WAYS, type ComparisonView, type EmbedTrial } from './embed-comparison.ts';

/** Vectors that differ less are the same: sums in another order round otherwise. */
const SAME_WITHIN = 1e-5;

/** `3.4× faster batched and sorted: 0.6 s, one by one 2.1 s.`; what is compared until then. */
export function describeGain(trials: readonly EmbedTrial[]): string {
  const [alone, , sorted] = trials;
  if (!alone || !sorted) return 'The same lines, one by one and in batches';
  const faster = describeFaster(sorted.durationMs, alone.durationMs);
  const isSlower = describeFaster(alone.durationMs, sorted.durationMs) !== '';
  const how = faster === '' ? (isSlower ? 'Faster one by one' : 'About the same') : `${faster} in batches`;
  return `${how}: ${formatSeconds(sorted.durationMs)} against ${formatSeconds(alone.durationMs)} one by one.`;
}

/** How far the comparison is, then whether the vectors are the same. */
export function describeComparison({ isRunning, progress, trials, difference }: ComparisonView): string {
  if (progress) return `${progress.way}: ${formatCount(progress.numDone)}`;
  if (isRunning) return '';
  if (trials.length < WAYS.length) return 'Stopped.';
  return difference <= SAME_WITHIN
    ? 'The vectors are the same each time, within 0.00001.'
    : `The vectors differ by at most ${difference.toPrecision(2)} in a number.`;
}

/** @param longestMs Of the trials, whose bars share a scale. */
export function figuresOfTrial(
  trial: EmbedTrial | undefined,
  alone: EmbedTrial | undefined,
  longestMs: number,
) {
  if (!trial) return ['Time', 'Texts/s', 'Padding', 'Batches'].map((name) => ({ name, value: '–' }));
  const { durationMs, numTexts, numBatches, paddingShare } = trial;
  const ratio = alone ? `${(alone.durationMs / durationMs).toFixed(1)}×` : '';
  return [
    {
      name: 'Time',
      value: formatSeconds(durationMs),
      ratio,
      share: durationMs / longestMs,
      color: '--series-itl',
    },
    { name: 'Texts/s', value: formatNumber((numTexts * 1000) / durationMs) },
    { name: 'Padding', value: formatShare(paddingShare), share: paddingShare, color: '--series-prefill' },
    { name: 'Batches', value: formatCount(numBatches) },
  ] satisfies readonly TrialFigure[];
}
