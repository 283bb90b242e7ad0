import { lazy, Suspense, type ReactNode } from 'react';

import { Popover } from '../../parts/popover.tsx';
import './site-header.css';

const MenuContent = lazy(async () => ({ default: (await import('./menu-content.tsx')).MenuContent }));

interface SiteHeaderProps {
  /** The tabs of the views. */
  readonly children?: ReactNode;
  readonly status?: ReactNode;
}

/** One bar: the name, the views, how it is served, and the menu. */
export function SiteHeader({ children, status }: SiteHeaderProps) {
  return (
    <header className="site-header row loose ground">
      <div className="brand row">
        <svg className="brand-mark" viewBox="0 0 32 32" aria-hidden="true">
          <path d="M4 28V9a4 4 0 0 1 4-4h7a4 4 0 0 1 4 4h5a4 4 0 0 1 4 4v15z" />
          <path className="brand-bars" d="M9 24v-6M14 24V11M19 24v-9M24 24v-4" />
        </svg>
        <h1>Tabserve</h1>
      </div>
      {children}
      {status}
      <Popover label="Menu" face={<span aria-hidden="true">⋯</span>} className="page-menu">
        <Suspense>
          <MenuContent />
        </Suspense>
      </Popover>
    </header>
  );
}
