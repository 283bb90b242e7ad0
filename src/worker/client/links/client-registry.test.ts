import { describe, expect, it } from 'vitest';
import { clientId, settle } from '../../../batching/generation/test-support.ts';
import { ClientRegistry } from './client-registry.ts';
import { clientName } from '../../protocol/names.ts';
import { FakeLocks } from '../../test-support.ts';

const [A, B] = [clientId('a'), clientId('b')];

function createRegistry() {
  const locks = new FakeLocks();
  const log: string[] = [];
  const registry: ClientRegistry = new ClientRegistry(locks, {
    onJoined: (id) => log.push(`${id} joined, ${registry.size}`),
    onGone: (id) => log.push(`${id} gone, ${registry.size}`),
  });
  return { locks, log, registry };
}

describe('ClientRegistry', () => {
  it('takes in each tab once, at its first message', async () => {
    const { locks, log, registry } = createRegistry();
    locks.hold(clientName(A));
    locks.hold(clientName(B));
    for (const id of [A, B, A]) registry.meet(id);
    await settle();
    registry.meet(B);
    expect(log).toEqual(['a joined, 1', 'b joined, 2']);
  });

  it('notices that a tab is gone by its lock, and leaves the others', async () => {
    const { locks, log, registry } = createRegistry();
    const leave = locks.hold(clientName(A));
    locks.hold(clientName(B));
    registry.meet(A);
    registry.meet(B);
    leave();
    await settle();
    expect(log.slice(2)).toEqual(['a gone, 1']);
  });

  it('lets a tab go at once that was gone before its message came', async () => {
    const { log, registry } = createRegistry();
    registry.meet(A);
    await settle();
    expect(log).toEqual(['a joined, 1', 'a gone, 0']);
  });

  it('holds no lock of a tab that is gone, and takes it in again should it come back', async () => {
    const { locks, log, registry } = createRegistry();
    registry.meet(A);
    await settle();
    expect(locks.names).toEqual([]);
    locks.hold(clientName(A));
    registry.meet(A);
    await settle();
    expect(log.slice(2)).toEqual(['a joined, 1']);
  });
});
