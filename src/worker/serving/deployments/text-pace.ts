import type { Clock } from '../../../batching/base/clock.ts';
import type { StepRecord } from '../../../protocol/stats.ts';

/** The shortest of these was not held up by a batch. */
const NUM_REMEMBERED = 16;

/** The time between two tokens, as a multiple of a decode step. */
const MAX_SLOWDOWN = 3;

/** Fewer than one token in twenty, those beyond the 95th percentile, may be later than that. */
const STEPS_BETWEEN_STALLS = 20;

/**
 * Keeps batches of encoders from holding up texts, as both run on one device, one at a time. While texts run, a batch takes no
 * longer than a decode step, and then pauses for as long as it took. A single text can take longer: then the pause is as long as
 * the 95th percentile of the time between two tokens needs to stay below `MAX_SLOWDOWN` times that of a text alone.
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
    return this.#isTextRunning() ? this.#stepMs : Infinity;
  }

  /** The time of a decode step; Infinity before the first. */
  get #stepMs(): number {
    return Math.min(Infinity, ...this.#decodesMs);
  }

  recordStep({ kind, stepMs }: Pick<StepRecord, 'kind' | 'stepMs'>): void {
    if (kind === 'decode') this.#decodesMs = [...this.#decodesMs.slice(1 - NUM_REMEMBERED), stepMs];
  }

  /** Runs a batch after the pause of the one before. */
  async run<Result>(work: () => Promise<Result>): Promise<Result> {
    const restMs = this.#pausedUntilMs - this.#clock.now();
    if (restMs > 0 && this.#isTextRunning())
      await new Promise<void>((resolve) => void this.#clock.setTimer(restMs, resolve));
    const startedAtMs = this.#clock.now();
    try {
      return await work();
    } finally {
      const endedAtMs = this.#clock.now();
      const tookMs = endedAtMs - startedAtMs;
      const isStall = tookMs > (MAX_SLOWDOWN - 1) * this.#stepMs;
      const pauseMs = isStall ? Math.max(tookMs, STEPS_BETWEEN_STALLS * this.#stepMs) : tookMs;
      this.#pausedUntilMs = endedAtMs + pauseMs;
    }
  }
}
