import { expect, it, vi } from 'vitest';
import { createServeHost } from '../test-support.ts';
import { ServeWorker } from './serve-worker.ts';

const platform = vi.hoisted(() => ({ numOpened: 0 }));

vi.mock('../jobs/opfs-job-store.ts', () => ({
  openJobs() {
    platform.numOpened += 1;
    return Promise.reject(new Error('no storage'));
  },
}));

it.each([
  ['goes on with the jobs', false, 2],
  ['leaves the jobs to the app’s own worker, if it is a check’s', true, 0],
])('a worker %s', async (_, isTrial, numOpened) => {
  platform.numOpened = 0;
  const outbox = { toAll: () => {}, toClient: () => {} };
  const worker = new ServeWorker([], outbox, { ...createServeHost(), isTrial });
  await worker.start({ model: { type: 'none' }, dtype: 'auto' }, 'wasm');
  expect(platform.numOpened).toBe(numOpened);
});
