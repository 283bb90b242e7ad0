import type { Clock } from '../batching/base/clock.ts';
import type { JobProgress } from '../protocol/jobs.ts';

const WINDOW_SECONDS = 10;

/** Rows and tokens of the last ten seconds. */
export class RowRate {
  readonly #clock: Clock;
  readonly #startedAtMs: number;
  /** By second. */
  readonly #seconds = new Map<number, { numRows: number; numTokens: number }>();

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#startedAtMs = clock.now();
  }

  add(numTokens: number): void {
    const now = this.#second;
    const entry = this.#seconds.get(now) ?? { numRows: 0, numTokens: 0 };
    this.#seconds.set(now, entry);
    entry.numRows += 1;
    entry.numTokens += numTokens;
    for (const second of this.#seconds.keys())
      if (second <= now - WINDOW_SECONDS) this.#seconds.delete(second);
  }

  progress(numRowsLeft: number): JobProgress {
    const now = this.#second;
    const recent = [...this.#seconds].filter(([second]) => second > now - WINDOW_SECONDS);
    const elapsed = (this.#clock.now() - this.#startedAtMs) / 1000;
    const seconds = Math.max(0.1, Math.min(elapsed, WINDOW_SECONDS - 1 + ((this.#clock.now() / 1000) % 1)));
    const numRows = recent.reduce((sum, [, entry]) => sum + entry.numRows, 0);
    const numTokens = recent.reduce((sum, [, entry]) => sum + entry.numTokens, 0);
    return {
      rowsPerSecond: numRows / seconds,
      tokensPerSecond: numTokens / seconds,
      ...(numRows > 0 && { remainingMs: (numRowsLeft * seconds * 1000) / numRows }),
    };
  }

  get #second(): number {
    return Math.floor(this.#clock.now() / 1000);
  }
}
