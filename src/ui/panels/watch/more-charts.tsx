import { lazy, Suspense } from 'react';

import { Disclosure } from '../../parts/disclosure.tsx';

const ChartGrid = lazy(async () => ({ default: (await import('./chart-grid.tsx')).ChartGrid }));

export function MoreCharts() {
  return (
    <section className="more-charts" aria-label="More charts">
      <Disclosure title="More charts" note="Tokens/s, percentiles of each latency, memory, finish reasons">
        <Suspense>
          <ChartGrid />
        </Suspense>
      </Disclosure>
    </section>
  );
}
