import { lazy, Suspense, useEffect, useState, type ReactNode } from 'react';
import { useShallow } from 'zustand/shallow';

import type { RequestId } from '../../../client/index.ts';
import { Button } from '../../parts/button.tsx';
import { promptsOfRun, type ComparedPrompt, type Measured } from '../compare/compared-prompts.ts';
import { useComposer } from '../../state/composer/composer-context.ts';
import { SAMPLE_PROMPTS } from '../../state/composer/sample-prompts.ts';
import { formatCount } from '../../parts/format.ts';
import { PanelBoundary } from '../../parts/panel-boundary.tsx';
import { useServe, useServeView } from '../../state/serve-context.ts';
import { EarlierRequests } from './earlier-requests.tsx';
import { followHighlights } from './highlight-cells.ts';
import { RequestCell } from './request-cell.tsx';
import { cellIds, countHidden } from './request-order.ts';
import './requests.css';
import { RunLine } from './run-line.tsx';
import { useGrowingList } from './use-growing-list.ts';

const ComparePanel = lazy(async () => ({
  default: (await import('../compare/compare-panel.tsx')).ComparePanel,
}));

const OpenTabs = lazy(async () => ({ default: (await import('../tabs/open-tabs.tsx')).OpenTabs }));

interface Comparison {
  /** Counts the comparisons, each of which has a panel of its own. */
  readonly index: number;
  readonly prompts: readonly ComparedPrompt[];
  readonly measured?: Measured;
  /** The line about the run still says what it measured. */
  readonly isClosed?: boolean;
  readonly abort: AbortController;
}

/** The newest run and the requests before it; a recorded one before the first. */
export function RunPanel({ recorded }: { readonly recorded: ReactNode }) {
  const hasTabs = useServeView(({ status, runs }) => status.numTabs > 1 || runs.prompts?.senders?.size);
  return (
    <section className="run" aria-labelledby="requests-title" ref={followHighlights}>
      <h2 className="visually-hidden" id="requests-title">
        Requests
      </h2>
      <Suspense>{hasTabs ? <OpenTabs /> : null}</Suspense>
      {recorded ?? <OwnRun />}
      <EarlierRequests />
    </section>
  );
}

/** A line about the run, and its texts side by side. */
function OwnRun() {
  const numCells = useServeView((view) => cellIds(view).length);
  const { comparison, compare, setMeasured, close } = useComparison();
  const firstId = useServeView(({ runs }) => runs.prompts?.requestIds[0]);
  /** The run whose texts are shown as wholes. The texts of the next one stream in places that don't grow. */
  const [wholeId, setWholeId] = useState<RequestId>();
  const isWhole = wholeId !== undefined && wholeId === firstId;
  return (
    <>
      <RunLine
        numCells={numCells}
        measured={comparison?.measured}
        onCompare={compare}
        isWhole={isWhole}
        onWhole={(next) => setWholeId(next ? firstId : undefined)}
      />
      {comparison && !comparison.isClosed && (
        <PanelBoundary name="Comparison">
          <Suspense fallback={<div className="compare" />}>
            <ComparePanel
              key={comparison.index}
              prompts={comparison.prompts}
              abort={comparison.abort}
              onMeasured={setMeasured}
              onClose={close}
            />
          </Suspense>
        </PanelBoundary>
      )}
      <Cells isWhole={isWhole} />
    </>
  );
}

/** The comparison in the panel. Another one ends it, and so does another run. */
function useComparison() {
  const { store } = useServe();
  const composer = useComposer();
  const [comparison, setComparison] = useState<Comparison>();
  const compare = (): void => {
    comparison?.abort.abort();
    const prompts = promptsOfRun(store.getState(), composer);
    const index = (comparison?.index ?? 0) + 1;
    setComparison({ index, prompts, abort: new AbortController() });
  };
  const close = (): void => {
    comparison?.abort.abort();
    setComparison(comparison && { ...comparison, isClosed: true });
  };
  useEffect(() => {
    if (!comparison) return undefined;
    const firstId = store.getState().runs.prompts?.requestIds[0];
    return store.subscribe(({ runs }) => {
      if (runs.prompts?.requestIds[0] === firstId) return;
      comparison.abort.abort();
      setComparison(undefined);
    });
  }, [comparison, store]);
  const setMeasured = (measured: Measured): void =>
    setComparison((current) => current && { ...current, measured });
  return { comparison, compare, setMeasured, close };
}

function Cells({ isWhole }: { readonly isWhole: boolean }) {
  // The ids stay the same array while text streams, so that a token renders no list.
  const ids = useGrowingList(useServeView(useShallow(cellIds)));
  const [numMorePages, setNumMorePages] = useState(0);
  const numHidden = countHidden(ids.length, numMorePages);
  return (
    <div className="cells-place">
      {numHidden > 0 && (
        <Button variant="small" onClick={() => setNumMorePages(numMorePages + 1)}>
          Show more ({formatCount(numHidden)})
        </Button>
      )}
      <ul className="cells" data-open={isWhole} aria-labelledby="requests-title">
        {ids.slice(numHidden).map((id) => (
          <RequestCell key={id} id={id} />
        ))}
      </ul>
      {ids.length === 0 && <EmptyCells />}
    </div>
  );
}

/** The places of the texts to come. */
function EmptyCells() {
  return (
    <div className="cells cells-empty" aria-hidden="true">
      {SAMPLE_PROMPTS.map((prompt) => (
        <p key={prompt} className="cell muted">
          {prompt} …
        </p>
      ))}
    </div>
  );
}
