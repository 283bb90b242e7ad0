import { lazy, Suspense } from 'react';

const ModelsPanel = lazy(async () => ({ default: (await import('./models-panel.tsx')).ModelsPanel }));

/** Which model serves. It comes by itself: the page is usable before it is there. */
export function LazyModelsPanel() {
  return (
    <Suspense>
      <ModelsPanel />
    </Suspense>
  );
}
