import type { Clock } from '../../batching/base/clock.ts';
import { asWorkerId, type WorkerId } from '../../protocol/ids.ts';
import { holderOf, type Locks } from '../../protocol/locks.ts';
import type { AppNames } from '../../protocol/names.ts';
import { PROTOCOL_VERSION } from '../../protocol/wire.ts';

/** A worker that is being stopped ends within this time and frees its memory. A suspended one keeps its lock. */
const MAX_WAIT_MS = 1000;

export interface WorkerLocksOptions {
  readonly locks: Locks;
  readonly names: AppNames;
  readonly clock: Clock;
}

/**
 * Takes the lock of the worker that serves, and serves until another worker takes the lock.
 *
 * @throws AbortError when this worker has lost the lock, so it was suspended for a while and must not go on.
 */
export async function serveUnderLock(
  { locks, names, clock }: WorkerLocksOptions,
  serve: (workerId: WorkerId) => Promise<void>,
): Promise<void> {
  const { workerLock } = names;
  const holder = await locks.request(names.createLifeName(), (lock) => holderOf(locks, lock?.name ?? ''));
  const workerId = asWorkerId(holder ?? '');
  const patience = new AbortController();
  const cancelTimer = clock.setTimer(MAX_WAIT_MS, () => patience.abort());
  let isGranted = false;
  const hold = (): Promise<void> => {
    isGranted = true;
    cancelTimer();
    // Tabs of another version trust this worker's messages once it holds the second lock.
    return locks.request(names.versionLock(PROTOCOL_VERSION), { steal: true }, () => serve(workerId));
  };
  try {
    await locks.request(workerLock, { signal: patience.signal }, hold);
  } catch (error) {
    if (isGranted) throw error;
    await locks.request(workerLock, { steal: true }, hold);
  }
}

/** Resolves when the workers have ended that are there now, but for the one with this lock. Files that they have opened are free then. */
export async function whenOthersEnded(locks: Locks, names: AppNames, ownLifeLock?: string): Promise<void> {
  const { held = [] } = await locks.query();
  const others = held.filter(({ name = '' }) => names.isLifeName(name) && name !== ownLifeLock);
  await Promise.all(others.map(({ name = '' }) => locks.request(name, () => {})));
}
