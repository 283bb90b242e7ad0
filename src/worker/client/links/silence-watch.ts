import type { Clock } from '../../../batching/clock.ts';

export interface SilenceWatchOptions {
  readonly clock: Clock;
  readonly ask: () => void;
  readonly onSilence: (silentMs: number) => void;
}

const INTERVAL_MS = 5000;
/** A pass over a long prompt on the CPU keeps a worker from answering, and on a loaded machine for long. */
const LEAST_PATIENCE_MS = 60_000;

/**
 * Asks for signs of life, and tells when none has come for so long that none will. It counts its own timers, not the time
 * between them: while a machine sleeps neither goes on, and where a browser holds timers back it is late, and never wrong.
 */
export class SilenceWatch {
  readonly #options: SilenceWatchOptions;
  #cancelTimer: (() => void) | undefined;
  #numSilentTicks = 0;
  #leastPatienceMs = LEAST_PATIENCE_MS;
  #stepPatienceMs = 0;

  constructor(options: SilenceWatchOptions) {
    this.#options = options;
  }

  start(leastPatienceMs = LEAST_PATIENCE_MS): void {
    this.#leastPatienceMs = leastPatienceMs;
    this.#numSilentTicks = 0;
    if (!this.#cancelTimer) this.#setTimer();
  }

  stop(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
  }

  /** @param stepPatienceMs How long the longest step may take. */
  hear(stepPatienceMs: number): void {
    this.#numSilentTicks = 0;
    this.#stepPatienceMs = stepPatienceMs;
  }

  #setTimer(): void {
    this.#options.ask();
    this.#cancelTimer = this.#options.clock.setTimer(INTERVAL_MS, () => {
      this.#numSilentTicks += 1;
      const silentMs = this.#numSilentTicks * INTERVAL_MS;
      if (silentMs <= Math.max(this.#leastPatienceMs, this.#stepPatienceMs)) {
        this.#setTimer();
        return;
      }
      this.#cancelTimer = undefined;
      this.#options.onSilence(silentMs);
    });
  }
}
