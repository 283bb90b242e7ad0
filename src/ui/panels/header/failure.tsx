import { lazy, Suspense } from 'react';

import { Button } from '../../parts/button.tsx';
import type { FailurePanelProps } from './failure-panel.tsx';

/** A page whose server has a new version can't load the panel: then the error itself has to do. */
const FailurePanel = lazy(() =>
  import('./failure-panel.tsx').then(
    (panel) => ({ default: panel.FailurePanel }),
    () => ({ default: PlainFailure }),
  ),
);

/** Why a part of the page couldn't start, and what to do. */
export function Failure(props: FailurePanelProps) {
  return (
    <Suspense>
      <FailurePanel {...props} />
    </Suspense>
  );
}

function PlainFailure({ error }: FailurePanelProps) {
  return (
    <section className="failure rounded wrap" role="alert">
      <p>{error.message}</p>
      <Button onClick={() => location.reload()}>Reload this tab</Button>
    </section>
  );
}
