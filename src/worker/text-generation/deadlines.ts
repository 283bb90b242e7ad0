import type { Clock } from '../../batching/clock.ts';
import { TIMEOUT_RANGE } from '../../batching/generation/limits.ts';
import { finiteIn } from '../../batching/generation/validate.ts';
import { isRecord } from '../platform/is-record.ts';
import type { RequestId } from '../protocol/ids.ts';

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

const checkTimeout = finiteIn(TIMEOUT_RANGE);

/** The timeout among options that aren't checked yet; undefined if there is none, or a bad one. */
export function timeoutMsOf(options: unknown): number | undefined {
  try {
    return isRecord(options) ? checkTimeout('timeoutMs', options['timeoutMs']) : undefined;
  } catch {
    return undefined;
  }
}
