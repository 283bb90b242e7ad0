import { useEffect, useRef, useState } from 'react';

import { Button } from '../button.tsx';
import { useServe, useServeView } from '../state/serve-context.ts';
import type { ChartSpec } from './chart-spec.ts';
import { saveCsv, savePng } from './export-chart.ts';

/** React renders the host element. The chart in it takes its data from the store, without React. */
export function LiveChart({ spec }: { readonly spec: ChartSpec }) {
  const { store } = useServe();
  const isEmpty = useServeView((view) => spec.newestX(view) === undefined);
  const descriptionRef = useRef<HTMLParagraphElement>(null);
  const hostRef = useRef<HTMLDivElement>(null);
  const [failure, setFailure] = useState<Error>();

  useEffect(() => {
    let release: (() => void) | undefined;
    let isGone = false;
    // uPlot is loaded after the page. The host keeps the chart's place, so that nothing moves.
    const mount = async (): Promise<void> => {
      const { mountChart } = await import('./mount-chart.ts');
      const [host, description] = [hostRef.current, descriptionRef.current];
      if (!isGone && host && description) release = mountChart(host, description, spec, store);
    };
    mount().catch((caught: unknown) =>
      setFailure(caught instanceof Error ? caught : new Error(String(caught))),
    );
    return () => {
      isGone = true;
      release?.();
    };
  }, [spec, store]);

  if (failure) throw failure;

  return (
    <figure className="chart">
      <figcaption>
        <div>
          <h3>{spec.title}</h3> <span className="note">{spec.subtitle}</span>
        </div>
        <Button
          variant="quiet"
          disabled={isEmpty}
          aria-label={`${spec.title} as CSV`}
          onClick={() => saveCsv(spec, store.getState())}
        >
          CSV
        </Button>
        <Button
          variant="quiet"
          disabled={isEmpty}
          aria-label={`${spec.title} as PNG`}
          onClick={() => hostRef.current && void savePng(spec, hostRef.current)}
        >
          PNG
        </Button>
      </figcaption>
      <div className="chart-body">
        <div className="chart-host" ref={hostRef} data-testid={spec.testId} aria-hidden="true" />
        <p className="visually-hidden" ref={descriptionRef} />
        {isEmpty && <p className="chart-empty empty-note">{spec.emptyText}</p>}
      </div>
    </figure>
  );
}
