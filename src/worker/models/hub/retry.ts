import { onAbort } from '../../../batching/base/abort-signal.ts';
import type { Clock } from '../../../batching/base/clock.ts';
import { HubError } from '../../../protocol/errors/hub.ts';

export interface RetryOptions {
  readonly clock: Clock;
  /** In [0, 1). */
  readonly random: () => number;
  readonly signal: AbortSignal;
  /** In a row, without any progress in between. */
  readonly maxFailures?: number;
  /** Called before each retry with the number of failures in a row. */
  readonly onRetry?: (numFailures: number) => void;
}

const DEFAULT_MAX_FAILURES = 6;
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 15_000;
/** If a server asks for more, the caller decides. */
const LONGEST_RETRY_AFTER_MS = 60_000;

/**
 * Calls `attempt` again after each failure of the hub that may pass. Each pause is twice as long as the one before, less up
 * to half at random, so that clients that failed together do not retry together. A server's Retry-After is a lower bound.
 *
 * @param attempt Calls `onProgress` when enough data has arrived; that resets the count of failures.
 * @throws The last failure, or the first one that will not pass; the signal's reason when it aborts.
 */
export async function retry<Result>(
  attempt: (onProgress: () => void) => Promise<Result>,
  { clock, random, signal, maxFailures = DEFAULT_MAX_FAILURES, onRetry }: RetryOptions,
): Promise<Result> {
  for (let numFailures = 0; ;) {
    signal.throwIfAborted();
    try {
      return await attempt(() => {
        numFailures = 0;
      });
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof HubError)) throw error;
      numFailures += 1;
      if (
        numFailures >= Math.min(maxFailures, error.maxFailures) ||
        error.retryAfterMs > LONGEST_RETRY_AFTER_MS
      )
        throw error;
      onRetry?.(numFailures);
      await pause(Math.max(error.retryAfterMs, pauseMs(numFailures, random())), clock, signal);
    }
  }
}

/** @param numFailures From 1. */
function pauseMs(numFailures: number, chance: number): number {
  return Math.min(FIRST_PAUSE_MS * 2 ** (numFailures - 1), LONGEST_PAUSE_MS) * (1 - chance / 2);
}

/** @returns 0 for a header that is missing or invalid. */
export function parseRetryAfter(header: string | null, nowEpochMs: number): number {
  if (header === null) return 0;
  const ms = /^\d+$/.test(header) ? Number(header) * 1000 : Date.parse(header) - nowEpochMs;
  return Number.isFinite(ms) ? Math.max(0, ms) : 0;
}

/** Ends early when the signal aborts. */
async function pause(ms: number, clock: Clock, signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const cancelTimer = clock.setTimer(ms, resolve);
  const removeListener = onAbort(signal, resolve);
  await promise;
  cancelTimer();
  removeListener();
}
