import { afterEach, expect, it, vi } from 'vitest';

import type { SlotSpan } from '../../../client/index.ts';
import { createServeStore } from '../../state/serve-store.ts';
import { createReport, createSlotSpan, createStatus, idOf } from '../../testing/test-support.ts';
import { createTrialRecorder } from './trial-slots.ts';

afterEach(() => vi.useRealTimers());

function createRecorder() {
  const store = createServeStore(createStatus());
  const report = (...slotSpans: readonly SlotSpan[]): void => {
    store.history.slots.record(...createReport({ slotSpans }, performance.now()));
    store.setState(({ historyRevision }) => ({ historyRevision: historyRevision + 1 }));
  };
  return { store, report, recorder: createTrialRecorder(store), signal: new AbortController().signal };
}

it('keeps the requests of a test out of the cells', () => {
  const { store, recorder } = createRecorder();
  recorder.add(idOf('a'));
  expect([...store.experiments]).toEqual([['a', 'trial']]);
});

it('copies the bars once the last steps are reported, without those of other requests', async () => {
  const { report, recorder, signal } = createRecorder();
  const other = createSlotSpan({ requestId: idOf('other'), slot: 2, end: 'stop', endedAgoMs: 1 });
  report(createSlotSpan({ requestId: idOf('a') }), other);
  const copied = recorder.barsOf([idOf('a')], signal);
  const onCopied = vi.fn<() => void>();
  void copied.then(onCopied);
  await vi.waitFor(() => Promise.resolve());
  expect(onCopied).not.toHaveBeenCalled();
  report(createSlotSpan({ requestId: idOf('a'), end: 'stop', endedAgoMs: 1 }));
  const bars = await copied;
  expect(bars.map(({ requestId, end }) => [requestId, end])).toEqual([['a', 'stop']]);
});

it('does not wait forever for a request that never got a slot', async () => {
  vi.useFakeTimers();
  const { recorder, signal } = createRecorder();
  const copied = recorder.barsOf([idOf('rejected')], signal);
  await vi.runAllTimersAsync();
  expect(await copied).toEqual([]);
});
