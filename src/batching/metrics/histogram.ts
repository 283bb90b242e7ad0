import { describeInvalid } from '../errors.ts';

export interface Bucket {
  /** Inclusive, as Prometheus' `le`. */
  readonly upperBound: number;
  /** Observations at or below the bound, those of the smaller buckets included. */
  readonly cumulativeCount: number;
}

/** Plain data: it can be cloned to another context and its quantiles estimated there. */
export interface HistogramSnapshot {
  /** Ascending. The bucket of +Inf is not among them: what it would say is `count`. */
  readonly buckets: readonly Bucket[];
  readonly sum: number;
  readonly count: number;
}

/** The distribution of one series over buckets that are fixed when it is made. */
export class Histogram {
  readonly #buckets: { readonly upperBound: number; cumulativeCount: number }[];
  #sum = 0;
  #count = 0;

  constructor(upperBounds: readonly number[]) {
    this.#buckets = requireBuckets(upperBounds).map((upperBound) => ({ upperBound, cumulativeCount: 0 }));
  }

  /** Refuses what is not finite: a single NaN or Infinity would spoil the sum for good. */
  observe(value: number): void {
    if (!Number.isFinite(value)) throw new RangeError(describeInvalid('value', 'a finite number', value));
    for (const bucket of this.#buckets) {
      if (value <= bucket.upperBound) bucket.cumulativeCount += 1;
    }
    this.#sum += value;
    this.#count += 1;
  }

  get snapshot(): HistogramSnapshot {
    return { buckets: this.#buckets.map((bucket) => ({ ...bucket })), sum: this.#sum, count: this.#count };
  }
}

export function requireBuckets(upperBounds: readonly number[]): readonly number[] {
  const isAscending = upperBounds.every(
    (bound, index) => Number.isFinite(bound) && bound > (upperBounds[index - 1] ?? -Infinity),
  );
  if (isAscending && upperBounds.length > 0) return upperBounds;
  const expected = 'one or more finite upper bounds in ascending order (+Inf is added)';
  throw new RangeError(describeInvalid('buckets', expected, upperBounds));
}
