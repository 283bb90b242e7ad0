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
    const sorted = this.#samples.subarray(0, count).toSorted();
    const [p50, p95, p99] = [percentile(sorted, 0.5), percentile(sorted, 0.95), percentile(sorted, 0.99)];
    return { count, p50, p95, p99 };
  }
}

/** By nearest rank: the smallest sample that at least this share of the samples does not exceed. Not interpolated. */
function percentile(sorted: Float64Array, share: number): number {
  return sorted[Math.ceil(share * sorted.length) - 1] ?? 0;
}
