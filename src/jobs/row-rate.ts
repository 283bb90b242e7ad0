import type { Clock } from '../batching/base/clock.ts';
import type { JobProgress } from '../protocol/jobs.ts';

const WINDOW_MS = 10_000;

/** Rows and tokens of the last ten seconds. */
export class RowRate {
  readonly #clock: Clock;
  readonly #startedAtMs: number;
  readonly #rows: { readonly atMs: number; readonly numTokens: number }[] = [];

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#startedAtMs = clock.now();
  }

  add(numTokens: number): void {
    this.#forget();
    this.#rows.push({ atMs: this.#clock.now(), numTokens });
  }

  progress(numRowsLeft: number): JobProgress {
    this.#forget();
    const now = this.#clock.now();
    const { length: numRows } = this.#rows;
    const seconds = Math.max(100, Math.min(now - this.#startedAtMs, WINDOW_MS)) / 1000;
    return {
      rowsPerSecond: numRows / seconds,
      tokensPerSecond: this.#rows.reduce((sum, { numTokens }) => sum + numTokens, 0) / seconds,
      ...(numRows > 0 && { remainingMs: (numRowsLeft * seconds * 1000) / numRows }),
    };
  }

  #forget(): void {
    const since = this.#clock.now() - WINDOW_MS;
    while ((this.#rows[0]?.atMs ?? Infinity) <= since) this.#rows.shift();
  }
}
