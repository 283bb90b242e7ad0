import { useCallback, useId, useRef, type RefObject } from 'react';

import { Button } from '../../parts/button.tsx';
import { Popover } from '../../parts/popover.tsx';
import { useDrawing } from '../../drawing/use-drawing.ts';
import { latestRun } from '../../state/run.ts';
import { useServe, useServeView } from '../../state/serve-context.ts';
import { recordedView } from '../../state/serve-store.ts';
import type { ChartHead } from './chart-head.ts';
import { Mark } from './mark.tsx';

interface LiveChartProps {
  readonly head: ChartHead;
  readonly emptyText?: string;
}

/** React renders the frame. The chart in it takes its data from the store, without React. */
export function LiveChart({ head, emptyText = head.emptyText }: LiveChartProps) {
  const titleId = useId();
  const { deployment } = head;
  const isEmpty = useServeView(({ runs, batches }) =>
    deployment === undefined ? latestRun(runs) === undefined : !batches.has(deployment),
  );
  const { hostRef, readoutRef, descriptionRef } = useChart(head);

  return (
    <figure className="chart" data-chart={head.testId} aria-labelledby={titleId}>
      <figcaption className="row">
        <h3 id={titleId}>{head.title}</h3>
        <span className="chart-subtitle one-line note">{head.subtitle}</span>
        <Readout head={head} ref={readoutRef} />
        <ExportMenu head={head} isEmpty={isEmpty} hostRef={hostRef} />
      </figcaption>
      <div className="chart-body ground">
        <div className="chart-host" ref={hostRef} data-testid={head.testId} aria-hidden="true" />
        <p className="visually-hidden" ref={descriptionRef} />
        {isEmpty && <p className="chart-empty empty-note">{emptyText}</p>}
      </div>
    </figure>
  );
}

/** Draws the chart into the elements of these refs. */
function useChart(head: ChartHead) {
  const { store } = useServe();
  const hostRef = useRef<HTMLDivElement>(null);
  const readoutRef = useRef<HTMLDivElement>(null);
  const descriptionRef = useRef<HTMLParagraphElement>(null);
  const load = useCallback(async () => {
    const { ChartDrawing } = await import('./chart-drawing.ts');
    return () => {
      const [host, readout, description] = [hostRef.current, readoutRef.current, descriptionRef.current];
      if (!host || !readout || !description) return undefined;
      return new ChartDrawing({ host, readout, description }, head, store);
    };
  }, [head, store]);
  useDrawing(load);
  return { hostRef, readoutRef, descriptionRef };
}

interface ExportMenuProps {
  readonly head: ChartHead;
  readonly isEmpty: boolean;
  readonly hostRef: RefObject<HTMLElement | null>;
}

function ExportMenu({ head, isEmpty, hostRef }: ExportMenuProps) {
  const { store } = useServe();
  const save = async (format: 'csv' | 'png'): Promise<void> => {
    const { saveCsv, savePng } = await import('./export-chart.ts');
    // The last steps may still wait for a frame.
    store.applyPending();
    if (format === 'csv') saveCsv(head, recordedView(store));
    else if (hostRef.current) await savePng(head, hostRef.current);
  };

  return (
    <Popover label={`Export ${head.title}`} face="⋯" className="chart-menu">
      <div className="stack">
        {(['csv', 'png'] as const).map((format) => (
          <Button
            key={format}
            variant="small"
            disabled={isEmpty}
            aria-label={`${head.title} as ${format.toUpperCase()}`}
            onClick={() => void save(format)}
          >
            {format === 'csv' ? 'Save values (CSV)' : 'Save picture (PNG)'}
          </Button>
        ))}
      </div>
    </Popover>
  );
}

interface ReadoutProps {
  readonly head: ChartHead;
  readonly ref: React.Ref<HTMLDivElement>;
}

/** The legend, with the values at the crosshair or the newest ones. The chart writes them. */
function Readout({ head, ref }: ReadoutProps) {
  return (
    <div className="readout" ref={ref} aria-hidden="true">
      <div className="readout-row row loose">
        {head.lines.map((line) => (
          <span className="readout-line row tight" key={line.label + line.color} title={line.label}>
            <Mark line={line} /> <span className="muted">{line.label}</span>{' '}
            <span className="readout-value strong" />
          </span>
        ))}
      </div>
    </div>
  );
}
