import { setDeadline, type Clock } from '../../batching/base/clock.ts';

export interface SilenceWatchOptions {
  readonly clock: Clock;
  readonly ask: () => void;
  readonly onSilence: (silentMs: number) => void;
}

const INTERVAL_MS = 5000;
/** A worker cannot answer while the CPU computes a long prompt. */
const LEAST_PATIENCE_MS = 60_000;

/**
 * Pings the worker and reports it if it has not answered for too long. Counts timer ticks instead of reading a clock: a sleeping
 * machine stops both sides, and a browser that throttles timers only delays the report.
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

  /** @param stepPatienceMs The longest time that a step may take. */
  hear(stepPatienceMs: number): void {
    this.#numSilentTicks = 0;
    this.#stepPatienceMs = stepPatienceMs;
  }

  #setTimer(): void {
    this.#options.ask();
    this.#cancelTimer = setDeadline(this.#options.clock, INTERVAL_MS, () => {
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
