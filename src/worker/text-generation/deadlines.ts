import type { Clock } from '../../batching/clock.ts';
import type { RequestId } from '../protocol/protocol.ts';

/** A timer for each request that has a timeout. */
export class Deadlines {
  readonly #clock: Clock;
  readonly #cancelTimers = new Map<RequestId, () => void>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Calls `onTimeUp` once unless it is cleared first; never in this turn, even if the time is up already. */
  set(requestId: RequestId, remainingMs: number, onTimeUp: () => void): void {
    const cancelTimer = this.#clock.setTimer(Math.max(0, remainingMs), () => {
      this.#cancelTimers.delete(requestId);
      onTimeUp();
    });
    this.#cancelTimers.set(requestId, cancelTimer);
  }

  clear(requestId: RequestId): void {
    this.#cancelTimers.get(requestId)?.();
    this.#cancelTimers.delete(requestId);
  }
}
