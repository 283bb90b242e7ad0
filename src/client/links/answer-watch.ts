import { setDeadline, type Clock } from '../../batching/base/clock.ts';

export interface AnswerWatchOptions {
  readonly clock: Clock;
  /** How long a silence may last now. Undefined while this tab waits for nothing. */
  readonly patienceMs: () => number | undefined;
  /** Asks whether the leader's process runs. */
  readonly ask: () => void;
  readonly onSilence: () => void;
}

const INTERVAL_MS = 1000;

/**
 * Notices that the leader's process doesn't run, while this tab waits for its answers. After a second without a message it asks each
 * second. It counts ticks instead of reading a clock, because a browser that throttles timers only delays the report.
 */
export class AnswerWatch {
  readonly #options: AnswerWatchOptions;
  #cancelTimer: (() => void) | undefined;
  #numSilent = 0;
  #hasHeard = false;
  #isExcused = false;

  constructor(options: AnswerWatchOptions) {
    this.#options = options;
  }

  /** Call it whenever this tab begins to wait. It runs no timer while this tab waits for nothing. */
  start(): void {
    if (this.#cancelTimer) return;
    this.#numSilent = 0;
    this.#hasHeard = false;
    this.#setTimer();
  }

  stop(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
  }

  hear(): void {
    this.#hasHeard = true;
    this.#numSilent = 0;
  }

  #setTimer(): void {
    const { clock } = this.#options;
    const setAtMs = clock.now();
    this.#cancelTimer = setDeadline(clock, INTERVAL_MS, () => {
      this.#cancelTimer = undefined;
      this.#tick(clock.now() - setAtMs > 2 * INTERVAL_MS);
    });
  }

  #tick(isLate: boolean): void {
    const { ask, onSilence } = this.#options;
    const patienceMs = this.#options.patienceMs();
    if (patienceMs === undefined) return;
    // After a suspension of this tab, the answers may still wait behind this timer.
    this.#isExcused = isLate && !this.#isExcused;
    if (!this.#hasHeard && !this.#isExcused) this.#numSilent += 1;
    this.#hasHeard = false;
    if (this.#numSilent * INTERVAL_MS >= patienceMs) {
      this.#numSilent = 0;
      onSilence();
    } else if (this.#numSilent > 0 || isLate) ask();
    this.#setTimer();
  }
}
