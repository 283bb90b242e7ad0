import type { Clock } from '../../batching/clock.ts';
import type { RequestId } from '../protocol/protocol.ts';

/** The times by which requests must have ended. */
export class Deadlines {
  readonly #clock: Clock;
  readonly #cancelTimers = new Map<RequestId, () => void>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Calls `onTimeUp` once, unless it is cleared before; not in this turn, even where the time is up already. */
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
