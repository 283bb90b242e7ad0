import { lazy, useState } from 'react';

import { Button } from '../../parts/button.tsx';
import { PanelBoundary } from '../../parts/panel-boundary.tsx';
import type { LoadedDeployment } from './load-target.ts';

const LoadLab = lazy(async () => ({ default: (await import('./load-lab.tsx')).LoadLab }));

/** The load lab of a view. Its drawer is loaded when it is first opened, and kept: a load test goes on while it is closed. */
export function useLoadLab(deployment: LoadedDeployment, isOpenAtFirst = false) {
  const [isOpen, setIsOpen] = useState(isOpenAtFirst);
  const [isUsed, setIsUsed] = useState(isOpen);
  const toggle = (): void => {
    setIsOpen(!isOpen);
    setIsUsed(true);
  };
  return {
    button: (
      <Button className="lab-button" aria-expanded={isOpen} onClick={toggle}>
        Load lab
      </Button>
    ),
    drawer: isUsed && (
      <PanelBoundary name="Load lab">
        <LoadLab deployment={deployment} isOpen={isOpen} onClose={() => setIsOpen(false)} />
      </PanelBoundary>
    ),
  };
}
