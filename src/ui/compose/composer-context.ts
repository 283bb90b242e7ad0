import { createContext, use } from 'react';
import { useStore } from 'zustand';

import type { Composer, ComposerView } from './composer.ts';

export const ComposerContext = createContext<Composer | undefined>(undefined);

export function useComposer(): Composer {
  const composer = use(ComposerContext);
  if (!composer) throw new Error('useComposer needs a <ComposerContext value={…}> above it.');
  return composer;
}

/** Renders again only when the selected value changes, so don't select a value that changes with every token. */
export function useComposerView<Selected>(select: (view: ComposerView) => Selected): Selected {
  return useStore(useComposer().store, select);
}
