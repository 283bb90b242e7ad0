import { beforeEach, expect, it, vi } from 'vitest';

import type { StoredModel, TabserveStatus } from '../../../client/index.ts';
import { createStatus } from '../../testing/test-support.ts';
import { ModelRemoval } from './model-removal.ts';

function stored(key: string): StoredModel {
  return { key, id: `owner/${key}`, revision: 'main', dtype: 'q8', storedBytes: 269e6, totalBytes: 0 };
}

function openRemoval(refusal?: Error) {
  const deleted: string[] = [];
  const listeners: ((status: TabserveStatus) => void)[] = [];
  const removal = new ModelRemoval({
    deleteModel: async (key, options) => {
      if (refusal) throw refusal;
      deleted.push(options?.force ? `${key} by force` : key);
    },
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it follows the status alone
    subscribe: ((_: 'status', listener: (status: TabserveStatus) => void) => {
      listeners.push(listener);
      return () => {};
    }) as never,
  });
  const load = (id: string): void => {
    const status = createStatus({
      load: { id, isPaused: false, phase: 'prepare', loaded: 0, total: 0, fraction: 0.4 },
    });
    for (const tell of listeners) tell(status);
  };
  const hidden = (): readonly string[] => [...removal.store.getState().hidden.keys()];
  return { removal, deleted, load, hidden };
}

beforeEach(() => {
  vi.useFakeTimers();
  return () => vi.useRealTimers();
});

it('hides a deleted model at once, and removes its files once the time for Undo is over', async () => {
  const { removal, deleted, hidden } = openRemoval();
  removal.remove(stored('a'));
  expect(hidden()).toEqual(['a']);
  await vi.advanceTimersByTimeAsync(19_000);
  expect(deleted).toEqual([]);
  await vi.advanceTimersByTimeAsync(1000);
  expect(deleted).toEqual(['a']);
  expect(removal.store.getState().undoable).toBeUndefined();
  expect(hidden()).toEqual(['a']);
});

it('removes a model in use, as the user has been told what will happen', async () => {
  const { removal, deleted } = openRemoval();
  removal.remove({ ...stored('a'), isInUse: true });
  await removal.settle();
  expect(deleted).toEqual(['a by force']);
});

it('keeps the files of a deletion that is taken back', async () => {
  const { removal, deleted, hidden } = openRemoval();
  removal.remove(stored('a'));
  removal.undo();
  expect(hidden()).toEqual([]);
  await vi.runAllTimersAsync();
  expect(deleted).toEqual([]);
});

it('removes the files of one deletion at the next, and offers Undo of that alone', async () => {
  const { removal, deleted, hidden } = openRemoval();
  removal.remove(stored('a'));
  removal.remove(stored('b'));
  expect(deleted).toEqual(['a']);
  removal.undo();
  await vi.runAllTimersAsync();
  expect(deleted).toEqual(['a']);
  expect(hidden()).toEqual(['a']);
});

it('keeps the files of a model that any tab loads meanwhile, and shows one that is loaded anew', async () => {
  const { removal, deleted, load, hidden } = openRemoval();
  removal.remove(stored('a'));
  load('owner/a');
  await vi.runAllTimersAsync();
  expect(deleted).toEqual([]);
  expect(hidden()).toEqual([]);
  removal.remove(stored('b'));
  await removal.settle();
  load('owner/b');
  expect(hidden()).toEqual([]);
});

it('shows a model again whose files could not be removed, with the reason', async () => {
  const { removal, hidden } = openRemoval(new Error('no worker'));
  removal.remove(stored('a'));
  await removal.settle();
  expect(hidden()).toEqual([]);
  expect(removal.store.getState().refusal?.message).toBe('no worker');
});
