/** The last 512 durations, in ms. */
export interface LatencySummary {
  /** Number of samples. Without any, the percentiles are 0. */
  readonly count: number;
  /** Half of them are no longer. */
  readonly p50: number;
  /** 95 % of them are no longer. */
  readonly p95: number;
  /** 99 % of them are no longer. */
  readonly p99: number;
}

/** @internal */
export type Percentiles = Omit<LatencySummary, 'count'>;

const WINDOW_SIZE = 512;

/** The last samples of one latency, ms. */
export class LatencyWindow {
  readonly #samples = new Float64Array(WINDOW_SIZE);
  #numRecorded = 0;

  record(sampleMs: number): void {
    this.#samples[this.#numRecorded % WINDOW_SIZE] = sampleMs;
    this.#numRecorded += 1;
  }

  get summary(): LatencySummary {
    const count = Math.min(this.#numRecorded, WINDOW_SIZE);
    return { count, ...(percentilesOf(this.#samples.subarray(0, count)) ?? { p50: 0, p95: 0, p99: 0 }) };
  }
}

/**
 * By nearest rank: the smallest sample that at least this share of the samples does not exceed. Not interpolated.
 *
 * @internal
 */
export function percentilesOf(samples: ArrayLike<number>): Percentiles | undefined {
  if (samples.length === 0) return undefined;
  const sorted = Float64Array.from(samples).toSorted();
  const at = (share: number): number => sorted[Math.ceil(share * sorted.length) - 1] ?? 0;
  return { p50: at(0.5), p95: at(0.95), p99: at(0.99) };
}
