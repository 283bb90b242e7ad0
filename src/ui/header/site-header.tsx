import type { ReactNode } from 'react';

import { ThemeSwitch } from '../theme/theme-switch.tsx';
import './site-header.css';

/** The brand, with the state of the page below it. */
export function SiteHeader({ children }: { readonly children?: ReactNode }) {
  return (
    <header className="site-header">
      <div className="brand">
        <svg className="brand-mark" viewBox="0 0 32 32" aria-hidden="true">
          <path d="M4 28V9a4 4 0 0 1 4-4h7a4 4 0 0 1 4 4h5a4 4 0 0 1 4 4v15z" />
          <path className="brand-bars" d="M9 24v-6M14 24V11M19 24v-9M24 24v-4" />
        </svg>
        <h1>Tabserve</h1>
        <ThemeSwitch />
        <p className="muted">One Web Worker batches the prompts of all tabs for GPT-2 on WebGPU.</p>
      </div>
      {children}
    </header>
  );
}
