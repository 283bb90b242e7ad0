import { describe, expect, it } from 'vitest';
import { settle } from '../../batching/generation/test-support.ts';
import { FakeClock } from '../../batching/testing/fake-clock.ts';
import { isStolen } from '../../protocol/locks.ts';
import { namesOf } from '../../protocol/names.ts';
import { PROTOCOL_VERSION } from '../../protocol/wire.ts';
import { FakeLocks } from '../test-support.ts';
import { serveUnderLock, whenOthersEnded } from './worker-locks.ts';

const names = namesOf();
const [WORKER_LOCK, VERSION_LOCK] = [names.workerLock, names.versionLock(PROTOCOL_VERSION)];

/** A worker that serves as long as it may. */
function start(locks: FakeLocks) {
  const clock = new FakeClock();
  const log: string[] = [];
  serveUnderLock({ locks, names, clock }, (workerId) => {
    log.push(`serves as ${workerId}`);
    return new Promise<never>(() => {});
  }).catch((error: unknown) => log.push(isStolen(error) ? 'must stop' : String(error)));
  return { clock, log };
}

describe('the lock of the worker', () => {
  it('makes a worker wait for the end of the one before, whose memory is free then', async () => {
    const locks = new FakeLocks();
    const end = locks.hold(WORKER_LOCK);
    const { clock, log } = start(locks);
    clock.advance(900);
    await settle();
    expect(log).toEqual([]);
    end();
    await settle();
    expect(log).toEqual(['serves as other']);
    expect(locks.isHeld(VERSION_LOCK)).toBe(true);
    expect(clock.pendingTimers).toBe(0);
  });

  it('goes to the next worker where the one before is suspended, which must stop when it wakes', async () => {
    const locks = new FakeLocks();
    const suspended = start(locks);
    await settle();
    const { clock, log } = start(locks);
    await settle();
    clock.advance(1000);
    await settle();
    expect(log).toEqual(['serves as other']);
    expect(suspended.log).toEqual(['serves as other', 'must stop']);
    expect(locks.queueLength(WORKER_LOCK)).toBe(1);
  });

  it('tells when the other workers have ended, and doesn’t wait for itself', async () => {
    const locks = new FakeLocks();
    const [own, other] = [names.createLifeName(), names.createLifeName()];
    locks.hold(own);
    const end = locks.hold(other);
    let isAlone = false;
    void whenOthersEnded(locks, names, own).then(() => (isAlone = true));
    await settle();
    expect(isAlone).toBe(false);
    end();
    await settle();
    expect(isAlone).toBe(true);
  });
});
