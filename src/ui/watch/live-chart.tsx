import { useEffect, useRef } from 'react';

import { useServe, useServeView } from '../state/serve-context.ts';
import type { ChartSpec } from './chart-spec.ts';
import { mountChart } from './mount-chart.ts';

interface LiveChartProps {
  readonly spec: ChartSpec;
}

/** React makes the place; the chart lives in it from mount to unmount and takes its data from the store. */
export function LiveChart({ spec }: LiveChartProps) {
  const { store } = useServe();
  const isEmpty = useServeView(spec.isEmpty);
  const description = useServeView(spec.describe);
  const hostRef = useRef<HTMLDivElement>(null);

  useEffect(() => (hostRef.current ? mountChart(hostRef.current, spec, store) : undefined), [spec, store]);

  return (
    <figure className="chart">
      <figcaption>
        <h3>{spec.title}</h3> <span>{spec.subtitle}</span>
      </figcaption>
      <div className="chart-body">
        <div className="chart-host" ref={hostRef} data-testid={spec.testId} aria-hidden="true" />
        <p className="visually-hidden">{description}</p>
        {isEmpty && <p className="chart-empty">{spec.emptyText}</p>}
      </div>
    </figure>
  );
}
