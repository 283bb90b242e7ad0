import { afterArrived, type Clock } from './clock.ts';

/**
 * At most one timer, for the earliest requested time. It may ring before a listener has anything to do. Calls that have come by
 * that time are taken in before it rings.
 */
export class Alarm {
  readonly #clock: Clock;
  readonly #ring: (dueMs: number) => void;
  #dueMs = Infinity;
  #cancelTimer: (() => void) | undefined;

  constructor(clock: Clock, ring: (dueMs: number) => void) {
    this.#clock = clock;
    this.#ring = ring;
  }

  /** Infinity if it is not set. */
  get dueMs(): number {
    return this.#dueMs;
  }

  set(dueMs: number): void {
    if (dueMs >= this.#dueMs) return;
    this.clear();
    this.#dueMs = dueMs;
    this.#arm();
  }

  clear(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    this.#dueMs = Infinity;
  }

  #arm(): void {
    this.#cancelTimer = this.#clock.setTimer(Math.max(0, this.#dueMs - this.#clock.now()), this.#onTimer);
  }

  readonly #onTimer = (): void => {
    const dueMs = this.#dueMs;
    if (this.#clock.now() < dueMs) return this.#arm(); // platform timers may round down
    this.#cancelTimer = afterArrived(this.#clock, () => {
      this.clear();
      this.#ring(dueMs);
    });
  };
}
