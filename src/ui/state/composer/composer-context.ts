import { useStore } from 'zustand';

import { createRequiredContext } from '../../parts/required-context.ts';
import type { Composer, ComposerView } from './composer.ts';

export const [ComposerContext, useComposer] = createRequiredContext<Composer>('ComposerContext');

/** Renders again only when the selected value changes, so don't select a value that changes with every token. */
export function useComposerView<Selected>(select: (view: ComposerView) => Selected): Selected {
  return useStore(useComposer().store, select);
}
