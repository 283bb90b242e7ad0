import { formatCount, formatMs } from '../../parts/format.ts';
import { Panel } from '../../parts/panel.tsx';
import { useBatches } from '../../state/serve-context.ts';
import type { BatchView } from '../../state/batch-view.ts';
import './batch-table.css';
import { ReasonName } from './cut-reasons.tsx';
import { ScrollBox } from '../../parts/scroll-box.tsx';
import { TableHead } from '../../parts/table-head.tsx';

const COLUMNS = ['#', 'Size', 'Reason', 'Wait', 'Execution', 'Outcome', 'Cancelled'];

/** The timeline in numbers, oldest first. Screen readers read it in place of the timeline. */
export function BatchTable({ deployment }: { readonly deployment: string }) {
  const batches = useBatches(deployment);
  return (
    <Panel title="Batches" className="batch-table">
      <ScrollBox label="Table of batches">
        <table className="scroll-table" aria-label="Batches">
          <TableHead titles={COLUMNS} />
          <tbody>
            {batches.map((batch) => (
              <BatchRow key={batch.batchIndex} batch={batch} />
            ))}
          </tbody>
        </table>
        {batches.length === 0 && <p className="empty-note">Each batch appears here as a row.</p>}
      </ScrollBox>
    </Panel>
  );
}

function BatchRow({ batch }: { readonly batch: BatchView }) {
  const { batchIndex, batchSize, reason, waitMs, executionMs, outcome, cancelled } = batch;
  return (
    <tr data-reason={reason} data-size={batchSize} data-outcome={outcome}>
      <th scope="row" className="muted">
        {batchIndex}
      </th>
      <td className="strong">{describeSize(batch)}</td>
      <td>
        <ReasonName reason={reason} />
      </td>
      <td>{formatMs(waitMs)}</td>
      <td>{formatMs(executionMs)}</td>
      <td className={outcome === 'error' ? 'bad strong' : undefined}>{outcome}</td>
      <td>{formatCount(cancelled)}</td>
    </tr>
  );
}

/** The limit is in the deployment's own measure, which may differ from the number of requests. */
export function describeSize({ batchSize, measuredSize, maxBatchSize }: BatchView): string {
  const ofLimit = `${formatCount(measuredSize)} of ${formatCount(maxBatchSize)}`;
  return measuredSize === batchSize ? ofLimit : `${formatCount(batchSize)}, measured ${ofLimit}`;
}
