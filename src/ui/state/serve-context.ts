import { createContext, use } from 'react';
import { useStore } from 'zustand';

import type { Serve } from '../../worker/client/client.ts';
import type { ServeStore, ServeView } from './serve-store.ts';

interface ServeContextValue {
  readonly serve: Serve;
  readonly store: ServeStore;
}

export const ServeContext = createContext<ServeContextValue | undefined>(undefined);

export function useServe(): ServeContextValue {
  const value = use(ServeContext);
  if (!value) throw new Error('useServe needs a <ServeContext value={…}> above it.');
  return value;
}

/** Renders again only when the selected value changes: select the least that is drawn. */
export function useServeView<Selected>(select: (view: ServeView) => Selected): Selected {
  return useStore(useServe().store, select);
}
