import { expect, it } from 'vitest';
import { clientId } from '../../batching/generation/test-support.ts';
import { clientName, LEADER_LOCK, SHARED_CHANNEL, WORKER_LOCK } from './names.ts';

it('no tab’s own name is another’s, or one that all share', () => {
  const names = [SHARED_CHANNEL, LEADER_LOCK, WORKER_LOCK];
  const own = ['a', 'b', '', 'leader', 'worker'].map((name) => clientName(clientId(name)));
  expect(new Set([...names, ...own]).size).toBe(names.length + own.length);
});
