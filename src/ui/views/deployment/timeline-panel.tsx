import { useCallback, useMemo, useState } from 'react';

import { Button } from '../../parts/button.tsx';
import { Disclosure } from '../../parts/disclosure.tsx';
import { formatCount, formatMs } from '../../parts/format.ts';
import { observeSize } from '../../browser/observe.ts';
import { Panel } from '../../parts/panel.tsx';
import type { BatchView } from '../../state/batch-view.ts';
import { useBatches } from '../../state/serve-context.ts';
import { describeSize } from './batch-table.tsx';
import { ReasonLegend, ReasonName, REASONS } from './cut-reasons.tsx';
import { Timeline } from './timeline.tsx';
import { layoutTimeline } from '../../panels/watch/timeline-layout.ts';
import './timeline.css';

interface TimelinePanelProps {
  readonly deployment: string;
  /** Sends nine queries. */
  readonly onTry: () => void;
}

export function TimelinePanel({ deployment, onTry }: TimelinePanelProps) {
  const batches = useBatches(deployment);
  const layout = useMemo(() => layoutTimeline(batches), [batches]);
  const [width, setWidth] = useState(0);
  const followWidth = useCallback(
    (body: HTMLDivElement) => observeSize(body, () => setWidth(body.clientWidth)),
    [],
  );
  const [activeIndex, setActiveIndex] = useState<number>();
  // The batch under the pointer or the focus, or the newest.
  const readBatch = batches.find(({ batchIndex }) => batchIndex === activeIndex) ?? batches.at(-1);
  return (
    <Panel title="Why each batch was cut">
      <div className="timeline-body ground" data-testid="batch-timeline" ref={followWidth}>
        <Timeline layout={layout} width={width} newest={batches.at(-1)} onActivate={setActiveIndex} />
        {batches.length === 0 && (
          <div className="empty-note">
            <p>Each batch appears here: how long it waited, why it was cut, and how long it ran.</p>
            <Button onClick={onTry}>See 9 queries batched</Button>
          </div>
        )}
      </div>
      <div className="timeline-readout spaced rounded sunken wrap">
        {readBatch ? (
          <Readout key={readBatch.batchIndex} batch={readBatch} />
        ) : (
          <p className="muted">
            The numbers of the newest batch appear here. Point at another batch, or use the arrow keys, to
            read its numbers.
          </p>
        )}
      </div>
      <Explanation />
    </Panel>
  );
}

function Readout({ batch }: { readonly batch: BatchView }) {
  const { batchIndex, reason, waitMs, executionMs, outcome, cancelled, queueLength } = batch;
  return (
    <>
      <p>
        <b>Batch {batchIndex}</b> <ReasonName reason={reason} /> {REASONS[reason].explanation}
      </p>
      <p className="muted">
        Size {describeSize(batch)} · wait {formatMs(waitMs)} · execution {formatMs(executionMs)} · {outcome} ·{' '}
        {formatCount(cancelled)} cancelled · {formatCount(queueLength)} left waiting
      </p>
    </>
  );
}

function Explanation() {
  return (
    <Disclosure title="How to read it">
      <p className="spaced-below note">
        <span className="swatch key-wait" /> is the wait of the oldest request,{' '}
        <span className="swatch key-run" /> the execution, and <span className="swatch key-error" /> an
        execution that failed. The mark between them is the cut. A dashed line is a pause of half a second or
        more; the time starts at 0 after it.
      </p>
      <ReasonLegend />
    </Disclosure>
  );
}
