import { lazy, Suspense, useState, type ReactNode } from 'react';
import { useShallow } from 'zustand/shallow';

import type { RequestId } from '../../../client/index.ts';
import { afterPaint } from '../../browser/after-paint.ts';
import { Button } from '../../parts/button.tsx';
import { SAMPLE_PROMPTS } from '../../state/composer/sample-prompts.ts';
import { formatCount } from '../../parts/format.ts';
import { useServeView } from '../../state/serve-context.ts';
import { EarlierRequests } from './earlier-requests.tsx';
import { RequestCell } from './request-cell.tsx';
import { cellIds, countHidden } from './request-order.ts';
import './requests.css';
import { RunLine } from './run-line.tsx';
import { useGrowingList } from './use-growing-list.ts';

const OpenTabs = lazy(async () => ({ default: (await import('../tabs/open-tabs.tsx')).OpenTabs }));

/** The newest run and the requests before it; a recorded one before the first. */
export function RunPanel({ recorded }: { readonly recorded: ReactNode }) {
  const hasTabs = useServeView(({ status, runs }) => status.numTabs > 1 || runs.prompts?.senders?.size);
  return (
    <section className="run stack" aria-labelledby="requests-title" ref={followLater}>
      <h2 className="visually-hidden" id="requests-title">
        Requests
      </h2>
      <Suspense>{hasTabs ? <OpenTabs /> : null}</Suspense>
      {recorded ?? <OwnRun />}
      <EarlierRequests />
    </section>
  );
}

/** Before the first run there is no cell, so its code is loaded after the page. */
function followLater(section: HTMLElement): () => void {
  const end = new AbortController();
  const follow = async (): Promise<void> => {
    await afterPaint();
    const { followHighlights } = await import('./highlight-cells.ts');
    if (!end.signal.aborted) end.signal.addEventListener('abort', followHighlights(section));
  };
  // The texts go on without it.
  follow().catch(() => undefined);
  return () => end.abort();
}

/** A line about the run, and its texts side by side. */
function OwnRun() {
  const numCells = useServeView((view) => cellIds(view).length);
  const firstId = useServeView(({ runs }) => runs.prompts?.requestIds[0]);
  /** The run whose texts are shown as wholes. The texts of the next one stream in places that don't grow. */
  const [wholeId, setWholeId] = useState<RequestId>();
  const isWhole = wholeId !== undefined && wholeId === firstId;
  return (
    <>
      <RunLine
        numCells={numCells}
        isWhole={isWhole}
        onWhole={(next) => setWholeId(next ? firstId : undefined)}
      />
      <Cells isWhole={isWhole} />
    </>
  );
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
