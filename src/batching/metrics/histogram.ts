import { describeInvalid } from '../base/errors.ts';

export interface Bucket {
  /** Inclusive, as Prometheus' `le`. */
  readonly upperBound: number;
  /** The number of observations at or below the bound. */
  readonly cumulativeCount: number;
}

/** Plain data that can be cloned to another context. */
export interface HistogramSnapshot {
  /** Ascending, without the bucket of +Inf: its count is `count`. */
  readonly buckets: readonly Bucket[];
  readonly sum: number;
  readonly count: number;
}

/** The distribution of one series over fixed buckets. */
export class Histogram {
  readonly #buckets: { readonly upperBound: number; cumulativeCount: number }[];
  #sum = 0;
  #count = 0;

  constructor(upperBounds: readonly number[]) {
    this.#buckets = upperBounds.map((upperBound) => ({ upperBound, cumulativeCount: 0 }));
  }

  /** @throws RangeError for NaN and the infinities, which would spoil the sum. */
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
