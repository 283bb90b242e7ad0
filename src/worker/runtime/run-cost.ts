/** Enough to even out noise, few enough to follow a device that becomes slower. */
const NUM_REMEMBERED = 16;

interface Run {
  readonly numTokens: number;
  readonly ms: number;
}

/** The cost of runs of different sizes on one device: a fixed time, and a time for each token. */
export class RunCost {
  #runs: readonly Run[] = [];

  record(numTokens: number, ms: number): void {
    this.#runs = [...this.#runs.slice(1 - NUM_REMEMBERED), { numTokens, ms }];
  }

  /** @returns 0 before the first run. */
  msOf(numTokens: number): number {
    const { fixedMs, tokenMs } = this.#line();
    return fixedMs + tokenMs * numTokens;
  }

  /** How many tokens run within a time: at least 1. */
  tokensWithin(ms: number): number {
    const { fixedMs, tokenMs } = this.#line();
    return tokenMs === 0 ? Infinity : Math.max(1, Math.floor((ms - fixedMs) / tokenMs));
  }

  /** The straight line through the runs with the least squares. Neither part is negative. */
  #line(): { readonly fixedMs: number; readonly tokenMs: number } {
    const numRuns = this.#runs.length;
    if (numRuns === 0) return { fixedMs: 0, tokenMs: 0 };
    const meanTokens = sum(this.#runs, ({ numTokens }) => numTokens) / numRuns;
    const meanMs = sum(this.#runs, ({ ms }) => ms) / numRuns;
    const spread = sum(this.#runs, ({ numTokens }) => (numTokens - meanTokens) ** 2);
    const product = sum(this.#runs, ({ numTokens, ms }) => (numTokens - meanTokens) * (ms - meanMs));
    // Runs of one size say nothing about the fixed part.
    const slope = spread === 0 ? meanMs / meanTokens : product / spread;
    const tokenMs = Math.min(Math.max(slope, 0), meanMs / meanTokens);
    return { fixedMs: meanMs - tokenMs * meanTokens, tokenMs };
  }
}

function sum(runs: readonly Run[], of: (run: Run) => number): number {
  return runs.reduce((total, run) => total + of(run), 0);
}
