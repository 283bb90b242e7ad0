import { memo } from 'react';

import type { RequestId } from '../../../client/index.ts';
import { Button } from '../../parts/button.tsx';
import { countOf, formatCount, formatMs } from '../../parts/format.ts';
import { Modal } from '../../parts/modal.tsx';
import { ScrollBox } from '../../parts/scroll-box.tsx';
import { saveJson } from '../../browser/save-file.ts';
import { useServe, useServeView } from '../../state/serve-context.ts';
import type { SlotBar, RequestStep } from '../../state/slot-history.ts';
import { TableHead } from '../../parts/table-head.tsx';
import { describeBar } from './describe-bar.ts';
import { describeOwner } from './describe-owner.ts';
import { watchSettings } from '../watch/watch-settings.ts';
import { tabColor } from './tab-colors.ts';
import './trace-dialog.css';

/** More rows would be slow to lay out. The export has all. */
const MAX_ROWS = 600;

export function TraceDialog({ requestId }: { readonly requestId: RequestId }) {
  const { store } = useServe();
  const { slots } = store.history;
  // Until the request is over, renders again as the history grows.
  useServeView((view) => (slots.isOver(requestId) ? 'over' : view.historyRevision));
  const tabs = useServeView(({ status }) => status.tabs);
  const bars = slots.barsOf(requestId);
  const steps = slots.stepsOf(requestId);

  return (
    <Modal
      className="trace"
      title={bars[0] ? <TraceTitle bar={bars[0]} /> : 'Trace of a request'}
      head={<TraceActions requestId={requestId} bars={bars} steps={steps} />}
      onClose={() => watchSettings.setState({ tracedId: undefined })}
    >
      <p className="trace-prompt one-line">{bars[0]?.owner?.prompt}</p>
      <ul className="trace-spans spaced-below note">
        {bars.map((bar) => (
          <li key={bar.key}>{describeBar(bar, tabs)}</li>
        ))}
      </ul>
      <TraceTable bars={bars} steps={steps} />
    </Modal>
  );
}

interface TraceProps {
  readonly bars: readonly SlotBar[];
  readonly steps: readonly RequestStep[];
}

function TraceActions({ requestId, bars, steps }: TraceProps & { readonly requestId: RequestId }) {
  const { store } = useServe();
  /** To a neighbor in the order of start: the keyboard's way to choose a bar. */
  const go = (offset: -1 | 1): void => {
    const ids = store.history.slots.requestIds();
    const next = ids[ids.indexOf(requestId) + offset];
    if (next !== undefined) watchSettings.setState({ tracedId: next });
  };

  return (
    <>
      <Button variant="small" aria-label="Previous request" onClick={() => go(-1)}>
        ←
      </Button>
      <Button variant="small" aria-label="Next request" onClick={() => go(1)}>
        →
      </Button>
      <Button
        variant="small"
        onClick={() => saveJson('tabserve-trace.json', { requestId, slotSpans: bars, steps })}
      >
        Export JSON
      </Button>
    </>
  );
}

function TraceTitle({ bar: { owner } }: { readonly bar: SlotBar }) {
  const name = useServeView(({ status }) => describeOwner(owner, status.tabs));
  const isOwn = owner?.sender === undefined;
  return (
    <>
      <span className="slots-chip trace-mark" style={{ background: `var(${tabColor(owner?.sender)})` }} />
      {isOwn ? 'Trace of' : `Trace of a request ${owner.sender === 'HTTP' ? 'over' : 'of'}`} {name}
    </>
  );
}

const COLUMNS = ['Step', 'Ended at', 'Kind', 'Batch size', 'Slot', 'Waiting', 'Step time', 'Model run'];

function TraceTable({ bars, steps }: TraceProps) {
  const startedAtMs = bars[0]?.startedAtMs ?? 0;
  const shown = steps.slice(-MAX_ROWS);
  const caption =
    shown.length < steps.length
      ? `The last ${formatCount(shown.length)} of ${formatCount(steps.length)} steps`
      : countOf(steps.length, 'step');
  return (
    <ScrollBox label="Steps of the request" className="trace-scroll">
      <table className="scroll-table">
        <caption className="note">{caption}</caption>
        <TableHead titles={COLUMNS} />
        <tbody>
          {shown.map((step) => (
            <TraceRow key={step.serialIndex} step={step} startedAtMs={startedAtMs} />
          ))}
        </tbody>
      </table>
    </ScrollBox>
  );
}

interface TraceRowProps {
  readonly step: RequestStep;
  readonly startedAtMs: number;
}

/** A past step doesn't change, so its row renders once. */
const TraceRow = memo(
  function TraceRow({ step, startedAtMs }: TraceRowProps) {
    const { stepIndex, kind, endedAtMs, batchSize, ownSlots, queueLength, stepMs, runMs } = step;
    return (
      <tr data-kind={kind}>
        <th scope="row">{stepIndex}</th>
        <td>+{formatMs(Math.max(0, endedAtMs - startedAtMs))}</td>
        <td className={kind === 'prefill' ? 'strong' : undefined}>{kind}</td>
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
