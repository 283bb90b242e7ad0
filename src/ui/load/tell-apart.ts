type Better = 'more' | 'less';

/**
 * A difference of medians is measurable from this many standard errors on. Chosen by simulation: with five equal settings, checked
 * after each of rounds 3 to 5, fewer than 5 of 100 experiments see a difference, with normal, skewed and outlier noise.
 */
const MIN_STANDARD_ERRORS = 5;

/** A smaller relative difference isn't worth a change. */
const MIN_DIFFERENCE = 0.02;

/**
 * Finds the settings that may be the best: those that no other one measurably beats.
 *
 * @param samples For each setting, what each of its rounds measured: at least two rounds, values of 0 or more.
 * @returns Indexes into `samples`, ascending. All of them: no difference was measured.
 */
export function contendersOf(samples: readonly (readonly number[])[], better: Better): readonly number[] {
  const estimates = estimate(samples);
  const sign = better === 'more' ? 1 : -1;
  const [best] = estimates.toSorted((a, b) => sign * (b.median - a.median));
  if (!best) return [];
  const indexes = [...estimates.keys()];
  return indexes.filter((index) => {
    const other = estimates[index];
    return other && !isMeasurable(sign * (best.median - other.median), best, other);
  });
}

/** The settings that are not measurably above a limit, as indexes into `samples`. */
export function withinLimit(samples: readonly (readonly number[])[], limit: number): readonly number[] {
  const exact = { median: limit, standardError: 0 };
  return estimate(samples).flatMap((estimated, index) =>
    isMeasurable(estimated.median - limit, estimated, exact) ? [] : [index],
  );
}

/** For an even number of values, the mean of the middle two; NaN for none. */
export function medianOf(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const upper = sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
  const lower = sorted[Math.ceil(sorted.length / 2) - 1] ?? Number.NaN;
  return (lower + upper) / 2;
}

interface Estimate {
  readonly median: number;
  readonly standardError: number;
}

/** Each setting counts as at least as noisy as the median one, because a few rounds can agree by chance. */
function estimate(samples: readonly (readonly number[])[]): readonly Estimate[] {
  const noises = samples.map(relativeDeviation);
  const typical = medianOf(noises);
  return samples.map((values, index) => {
    const median = medianOf(values);
    const noise = Math.max(noises[index] ?? 0, typical);
    return { median, standardError: (noise * median) / Math.sqrt(values.length) };
  });
}

/** The standard deviation as a share of the median; 0 where that is 0. */
function relativeDeviation(values: readonly number[]): number {
  const median = medianOf(values);
  if (median === 0) return 0;
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  return Math.sqrt(squares / (values.length - 1)) / median;
}

function isMeasurable(difference: number, a: Estimate, b: Estimate): boolean {
  const spread = MIN_STANDARD_ERRORS * Math.hypot(a.standardError, b.standardError);
  return difference > Math.max(spread, MIN_DIFFERENCE * Math.max(a.median, b.median));
}
