import type { Precision } from '../../../src/worker/models/checkpoint/packed-weights.ts';
import type { RecordedRun } from './recorded-run.ts';

/** How far a logit may be from the CPU's, in standard deviations of the logits of its row. */
export const TOLERANCE: Readonly<Record<Precision, number>> = { float32: 1e-4, float16: 1e-1 };

export interface Figures {
  /** Largest error of a logit, in the unit of `TOLERANCE`. NaN if one is missing or not a number. */
  readonly largestError: number;
  /** Greedy tokens for which the reference's two likeliest are farther apart than the tolerance. */
  readonly numDecided: number;
  /** Decided tokens that equal the reference's. */
  readonly numEqual: number;
  readonly faults: readonly string[];
}

/** @param expected [vocab] for each token of each text. */
export function compareRun(run: RecordedRun, expected: readonly (readonly Float32Array[])[]): Figures {
  const tolerance = TOLERANCE[run.precision];
  let [largestError, numDecided, numEqual] = [0, 0, 0];
  for (const [text, { isGreedy, tokenIds, logits }] of run.texts.entries()) {
    for (const [index, tokenId] of tokenIds.entries()) {
      const row = expected[text]?.[index] ?? new Float32Array();
      const spread = deviationOf(row);
      const actual = logits[index] ?? [];
      // A missing logit makes this NaN, and so it stays.
      largestError = Math.max(
        largestError,
        ...row.map((value, i) => Math.abs(value - (actual[i] ?? NaN)) / spread),
      );
      const [first = 0, second = 0] = row.toSorted((a, b) => b - a);
      if (!isGreedy || first - second <= tolerance * spread) continue;
      numDecided += 1;
      if (row[tokenId] === first) numEqual += 1;
    }
  }
  const faults = [
    largestError <= tolerance ? '' : 'logits out of tolerance',
    numEqual === numDecided ? '' : `${numDecided - numEqual} greedy tokens are others`,
    run.numWrongSamples === 0 ? '' : `${run.numWrongSamples} tokens are sampled otherwise than on the CPU`,
    ...run.omissions,
  ].filter(Boolean);
  return { largestError, numDecided, numEqual, faults };
}

function deviationOf(row: Float32Array): number {
  const mean = row.reduce((sum, value) => sum + value, 0) / row.length;
  return Math.sqrt(row.reduce((sum, value) => sum + (value - mean) ** 2, 0) / row.length);
}
