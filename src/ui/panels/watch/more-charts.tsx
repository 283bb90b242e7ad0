import { lazy, Suspense } from 'react';

import { Disclosure } from '../../parts/disclosure.tsx';
import { useIsServer } from '../../state/serve-context.ts';

const ChartGrid = lazy(async () => ({ default: (await import('./chart-grid.tsx')).ChartGrid }));

export function MoreCharts() {
  return (
    <section className="more-charts" aria-label="More charts">
      <Disclosure
        title="More charts"
        note={`${useIsServer() ? '' : 'Tokens/s, memory, '}percentiles of each latency, finish reasons`}
      >
        <Suspense>
          <ChartGrid />
        </Suspense>
      </Disclosure>
    </section>
  );
}
