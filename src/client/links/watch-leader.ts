import { systemClock, type Clock } from '../../batching/base/clock.ts';
import type { Locks } from '../../protocol/locks.ts';
import { isHeld } from './leadership.ts';

export interface LeaderWatchOptions {
  readonly locks: Locks;
  /** The leader's lock. */
  readonly lockName: string;
  /** Ends the watch. */
  readonly signal: AbortSignal;
  /** Called when a tab begins to lead, and at each look that finds none: a leader may have come and gone between two looks. */
  readonly onLeader: (isThere: boolean) => void;
  readonly clock?: Clock | undefined;
}

const INTERVAL_MS = 1000;

/**
 * Looks regularly whether a tab leads. A tab that waited for the lock instead would hold it for a moment, and block every leader if
 * the browser froze it just then.
 */
export async function watchLeader({
  locks,
  lockName,
  signal,
  onLeader,
  clock = systemClock,
}: LeaderWatchOptions): Promise<void> {
  let wasThere = false;
  while (!signal.aborted) {
    const isThere = await isHeld(locks, lockName);
    if (!isThere || !wasThere) onLeader(isThere);
    wasThere = isThere;
    await new Promise<void>((resolve) => clock.setTimer(INTERVAL_MS, resolve));
  }
}
