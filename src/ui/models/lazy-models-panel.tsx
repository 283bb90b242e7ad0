import { lazy, Suspense } from 'react';

import { useIsUpstream } from '../state/serve-context.ts';

const ModelsPanel = lazy(async () => ({ default: (await import('./models-panel.tsx')).ModelsPanel }));

/** Loaded after the page. An upstream has no model to choose. */
export function LazyModelsPanel() {
  if (useIsUpstream()) return null;
  return (
    <Suspense>
      <ModelsPanel />
    </Suspense>
  );
}
