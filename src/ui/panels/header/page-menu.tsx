import { lazy, Suspense } from 'react';

import { Popover } from '../../parts/popover.tsx';

const MenuContent = lazy(async () => ({ default: (await import('./menu-content.tsx')).MenuContent }));

export function PageMenu() {
  return (
    <Popover label="Menu" face={<span aria-hidden="true">⋯</span>} className="page-menu">
      <Suspense>
        <MenuContent />
      </Suspense>
    </Popover>
  );
}
