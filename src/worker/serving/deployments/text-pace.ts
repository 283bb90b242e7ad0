import type { Clock } from '../../../batching/clock.ts';
import type { StepRecord } from '../../../protocol/stats.ts';

/** The shortest of these was not held up by a batch. */
const NUM_REMEMBERED = 16;

/**
 * Keeps batches of encoders from holding up texts, as both run on one device, one at a time. While texts run, a batch takes no
 * longer than a decode step, and then pauses for as long as it took.
 */
export class TextPace {
  readonly #clock: Clock;
  readonly #isTextRunning: () => boolean;
  #decodesMs: readonly number[] = [];
  #pausedUntilMs = -Infinity;

  constructor(clock: Clock, isTextRunning: () => boolean) {
    this.#clock = clock;
    this.#isTextRunning = isTextRunning;
  }

  /** How long the next batch may take, in ms. A single text may take longer. */
  get roomMs(): number {
    return this.#isTextRunning() ? Math.min(Infinity, ...this.#decodesMs) : Infinity;
  }

  recordStep({ kind, stepMs }: Pick<StepRecord, 'kind' | 'stepMs'>): void {
    if (kind === 'decode') this.#decodesMs = [...this.#decodesMs.slice(1 - NUM_REMEMBERED), stepMs];
  }

  /** Runs a batch after the pause of the one before. */
  async run<Result>(work: () => Promise<Result>): Promise<Result> {
    const pauseMs = this.#pausedUntilMs - this.#clock.now();
    if (pauseMs > 0 && this.#isTextRunning())
      await new Promise<void>((resolve) => void this.#clock.setTimer(pauseMs, resolve));
    const startedAtMs = this.#clock.now();
    try {
      return await work();
    } finally {
      const endedAtMs = this.#clock.now();
      this.#pausedUntilMs = endedAtMs + (endedAtMs - startedAtMs);
    }
  }
}
