import { lazy, Suspense } from 'react';

import { useServeView } from '../state/serve-context.ts';

const ModelsPanel = lazy(async () => ({ default: (await import('./models-panel.tsx')).ModelsPanel }));

/** Which model serves, unless an upstream has one. It comes by itself: the page is usable before it is there. */
export function LazyModelsPanel() {
  const isUpstream = useServeView((view) => view.status.backend?.name === 'upstream');
  if (isUpstream) return null;
  return (
    <Suspense>
      <ModelsPanel />
    </Suspense>
  );
}
