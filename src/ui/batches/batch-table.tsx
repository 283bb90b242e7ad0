import { formatCount, formatMs } from '../format.ts';
import { useServeView } from '../state/serve-context.ts';
import type { BatchView } from '../state/batch-view.ts';
import './batch-table.css';
import { ReasonName } from './cut-reasons.tsx';
import { ScrollBox } from '../scroll-box.tsx';

interface BatchTableProps {
  readonly deployment: string;
}

const NO_BATCHES: readonly BatchView[] = [];

/** The timeline in numbers, oldest first; it is also what the timeline is to those who do not see it. */
export function BatchTable({ deployment }: BatchTableProps) {
  const batches = useServeView((view) => view.batches.get(deployment) ?? NO_BATCHES);
  return (
    <section className="panel batch-table" aria-labelledby="batches-title">
      <h2 id="batches-title">Batches</h2>
      <ScrollBox label="Table of batches">
        <table className="scroll-table" aria-labelledby="batches-title">
          <thead>
            <tr>
              <th scope="col">#</th>
              <th scope="col">Size</th>
              <th scope="col">Reason</th>
              <th scope="col">Wait</th>
              <th scope="col">Execution</th>
              <th scope="col">Outcome</th>
              <th scope="col">Cancelled</th>
            </tr>
          </thead>
          <tbody>
            {batches.map((batch) => (
              <BatchRow key={batch.batchIndex} batch={batch} />
            ))}
          </tbody>
        </table>
        {batches.length === 0 && (
          <p className="scroll-box-empty">No batch yet: each one formed gets a row here.</p>
        )}
      </ScrollBox>
    </section>
  );
}

function BatchRow({ batch }: { readonly batch: BatchView }) {
  const { batchIndex, batchSize, reason, waitMs, executionMs, outcome, cancelled } = batch;
  return (
    <tr data-reason={reason} data-size={batchSize} data-outcome={outcome}>
      <th scope="row">{batchIndex}</th>
      <td>{describeSize(batch)}</td>
      <td>
        <ReasonName reason={reason} />
      </td>
      <td>{formatMs(waitMs)}</td>
      <td>{formatMs(executionMs)}</td>
      <td>{outcome}</td>
      <td>{formatCount(cancelled)}</td>
    </tr>
  );
}

/** Where the deployment measures its batches in something else than requests, the limit is in that measure. */
export function describeSize({ batchSize, measuredSize, maxBatchSize }: BatchView): string {
  const ofLimit = `${formatCount(measuredSize)} of ${formatCount(maxBatchSize)}`;
  return measuredSize === batchSize ? ofLimit : `${formatCount(batchSize)}, measured ${ofLimit}`;
}
