import { useStore } from 'zustand';

import type { TabserveClient } from '../../client/index.ts';
import { createRequiredContext } from '../parts/required-context.ts';
import type { BatchView } from './batch-view.ts';
import { recordedView, type RecordedView, type ServeStore, type ServeView } from './serve-store.ts';

interface ServeContextValue {
  readonly serve: TabserveClient;
  readonly store: ServeStore;
}

export const [ServeContext, useServe] = createRequiredContext<ServeContextValue>('ServeContext');

/** Renders again only when the selected value changes, so select the least that is drawn. */
export function useServeView<Selected>(select: (view: ServeView) => Selected): Selected {
  return useStore(useServe().store, select);
}

/** Like `useServeView`, with the history too. Select a value: the history changes in place. */
export function useRecordedView<Selected>(select: (view: RecordedView) => Selected): Selected {
  const { store } = useServe();
  return useStore(store, () => select(recordedView(store)));
}

/** Whether another server generates the texts, whose steps, slots and policy the page can’t see. */
export function useIsServer(): boolean {
  return useServeView(({ status }) => status.backend?.name === 'server');
}

const NO_BATCHES: readonly BatchView[] = [];

export function useBatches(deployment: string): readonly BatchView[] {
  return useServeView((view) => view.batches.get(deployment) ?? NO_BATCHES);
}
