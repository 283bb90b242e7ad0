import { memo, useEffect, useRef } from 'react';

import type { RequestId } from '../../worker/protocol/protocol.ts';
import { formatCount, formatMs } from '../format.ts';
import { saveJson } from '../share/save-file.ts';
import { useServe, useServeView } from '../state/serve-context.ts';
import type { SlotBar, RequestStep } from '../state/slot-history.ts';
import { describeBar, describeOwner } from './describe-bar.ts';
import { keyOfStep } from './key-of-step.ts';
import { slotSettings } from './slot-settings.ts';
import type { TabColors } from './tab-colors.ts';
import './trace-dialog.css';

interface TraceDialogProps {
  readonly requestId: RequestId;
  readonly tabColors: TabColors;
}

/** As many rows as the dialog lays out at once; the export has all. */
const MAX_ROWS = 600;

/** All batches that one request took part in, as far back as the page keeps them. */
export function TraceDialog({ requestId, tabColors }: TraceDialogProps) {
  const dialogRef = useRef<HTMLDialogElement>(null);
  const { store } = useServe();
  const { slots } = store.getState().history;
  // Drawn again as the history grows, while the request has anything to do with it: a trace can be watched.
  useServeView((view) => (slots.isOver(requestId) ? 'over' : view.historyRevision));
  const bars = slots.barsOf(requestId);
  const steps = slots.stepsOf(requestId);
  const [first] = bars;

  useEffect(() => {
    dialogRef.current?.showModal();
  }, []);
  useEffect(() => {
    slotSettings.setState({ selectedKeys: new Set(slots.barsOf(requestId).map(({ key }) => key)) });
    return () => slotSettings.setState({ selectedKeys: new Set() });
  }, [requestId, slots]);

  return (
    <dialog
      className="trace"
      ref={dialogRef}
      aria-labelledby="trace-title"
      onClose={() => slotSettings.setState({ tracedId: undefined })}
    >
      <div className="panel-head">
        <h2 id="trace-title">
          {first && (
            <span
              className="trace-mark"
              style={{ background: `var(${tabColors.of(first.owner?.clientId)})` }}
            />
          )}
          Trace of {first ? describeOwner(first) : 'a request'}
        </h2>
        <StepThrough requestId={requestId} />
        <button
          type="button"
          className="button-small"
          onClick={() => saveJson('tabserve-trace.json', { requestId, stays: bars, steps })}
        >
          Export JSON
        </button>
        <form method="dialog">
          <button type="submit" className="button-small">
            Close
          </button>
        </form>
      </div>
      <p className="trace-prompt">{first?.owner?.prompt}</p>
      <ul className="trace-stays">
        {bars.map((bar) => (
          <li key={bar.key}>{describeBar(bar)}</li>
        ))}
      </ul>
      <TraceTable bars={bars} steps={steps} />
    </dialog>
  );
}

/** Goes through the requests in the order of their start: what a click on a bar does, for the keyboard. */
function StepThrough({ requestId }: { readonly requestId: RequestId }) {
  const { store } = useServe();
  const go = (offset: -1 | 1): void => {
    const { requestIds } = store.getState().history.slots;
    const next = requestIds[requestIds.indexOf(requestId) + offset];
    if (next !== undefined) slotSettings.setState({ tracedId: next });
  };
  return (
    <>
      <button type="button" className="button-small" aria-label="Previous request" onClick={() => go(-1)}>
        ←
      </button>
      <button type="button" className="button-small" aria-label="Next request" onClick={() => go(1)}>
        →
      </button>
    </>
  );
}

interface TraceTableProps {
  readonly bars: readonly SlotBar[];
  readonly steps: readonly RequestStep[];
}

function TraceTable({ bars, steps }: TraceTableProps) {
  const startedAtMs = bars[0]?.startedAtMs ?? 0;
  const shown = steps.slice(-MAX_ROWS);
  const caption =
    shown.length < steps.length
      ? `The last ${formatCount(shown.length)} of ${formatCount(steps.length)} batches`
      : `${formatCount(steps.length)} batches`;
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- what scrolls must be reached by the keyboard
    <section className="trace-scroll" tabIndex={0} aria-label="Batches of the request">
      <table className="scroll-table">
        <caption>{caption}</caption>
        <thead>
          <tr>
            <th scope="col">Step</th>
            <th scope="col">Ended at</th>
            <th scope="col">Kind</th>
            <th scope="col">Batch</th>
            <th scope="col">Slot</th>
            <th scope="col">Waiting</th>
            <th scope="col">Step time</th>
            <th scope="col">Model run</th>
          </tr>
        </thead>
        <tbody>
          {shown.map((step) => (
            <TraceRow key={keyOfStep(step)} step={step} startedAtMs={startedAtMs} />
          ))}
        </tbody>
      </table>
    </section>
  );
}

interface TraceRowProps {
  readonly step: RequestStep;
  readonly startedAtMs: number;
}

/** What is past does not change: a row is drawn once. */
const TraceRow = memo(
  function TraceRow({ step, startedAtMs }: TraceRowProps) {
    const { stepIndex, kind, endedAtMs, batchSize, ownSlots, queueLength, stepMs, runMs } = step;
    return (
      <tr data-kind={kind}>
        <th scope="row">{stepIndex}</th>
        <td>+{formatMs(Math.max(0, endedAtMs - startedAtMs))}</td>
        <td>{kind}</td>
        <td>{batchSize}</td>
        <td>{ownSlots.join(', ')}</td>
        <td>{queueLength}</td>
        <td>{formatMs(stepMs)}</td>
        <td>{formatMs(runMs)}</td>
      </tr>
    );
  },
  (previous, next) =>
    previous.step.endedAtMs === next.step.endedAtMs && previous.startedAtMs === next.startedAtMs,
);
