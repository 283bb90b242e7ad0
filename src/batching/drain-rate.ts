/** Told before the first measurement. */
const UNKNOWN_RETRY_AFTER_MS = 1000;

/** Weight of the newest interval: about the last ten admissions count. */
const NEWEST_WEIGHT = 0.2;

/** How fast the waiting queue drains: a moving average of the time between two admissions under load. */
export class DrainRate {
  #averageMs: number | undefined;
  /** Undefined after the queue ran empty: the pause that follows says nothing about the rate. */
  #lastAdmittedAtMs: number | undefined;

  /** When a full queue is likely to have a place again: after one more admission. */
  get retryAfterMs(): number {
    return Math.max(1, this.#averageMs ?? UNKNOWN_RETRY_AFTER_MS);
  }

  recordAdmission(nowMs: number, numStillWaiting: number): void {
    if (this.#lastAdmittedAtMs !== undefined) this.#recordInterval(nowMs - this.#lastAdmittedAtMs);
    this.#lastAdmittedAtMs = numStillWaiting > 0 ? nowMs : undefined;
  }

  #recordInterval(intervalMs: number): void {
    const averageMs = this.#averageMs ?? intervalMs;
    this.#averageMs = averageMs + NEWEST_WEIGHT * (intervalMs - averageMs);
  }
}
