import { useCallback, useEffect, useRef, useState } from 'react';

import type {
  CheckedBackend,
  CheckLine,
  CheckOutcome,
  CheckReport,
  RequestId,
} from '../../../client/index.ts';
import { Button } from '../../parts/button.tsx';
import { ErrorLine } from '../../parts/error-line.tsx';
import { formatBytes, formatMs, formatNumber, NO_VALUE } from '../../parts/format.ts';
import { Modal } from '../../parts/modal.tsx';
import { ScrollBox } from '../../parts/scroll-box.tsx';
import { TableHead } from '../../parts/table-head.tsx';
import { useAttempt } from '../../parts/use-attempt.ts';
import { useCopy } from '../../parts/use-copy.ts';
import { useServe } from '../../state/serve-context.ts';
import './check-dialog.css';

/** Checks this machine while it is open. */
export function CheckDialog({ onClose }: { readonly onClose: () => void }) {
  const { report, isRunning, refusal, start, stop } = useCheck();
  return (
    <Modal className="check" title="Check this machine" onClose={onClose}>
      <p className="note">
        Runs for about a minute and shows whether texts are right here, and how fast. It loads the model a
        second time where there is memory. Texts of other tabs go on. Closing this stops it.
      </p>
      {refusal && <ErrorLine error={refusal} />}
      <div className="actions">
        {isRunning ? (
          <Button onClick={stop}>Stop</Button>
        ) : (
          <Button variant="primary" onClick={() => void start()}>
            {report ? 'Run again' : 'Run'}
          </Button>
        )}
        {report?.isOver && <CopyReport report={report} />}
      </div>
      <output className="check-now strong">{report && nowOf(report)}</output>
      {report && <Lines lines={report.lines} />}
      {report && report.backends.length > 0 && <Figures backends={report.backends} />}
    </Modal>
  );
}

function useCheck() {
  const { serve, store } = useServe();
  const [report, setReport] = useState<CheckReport>();
  const [isRunning, setIsRunning] = useState(false);
  const stopping = useRef<AbortController>(undefined);
  const { refusal, attempt } = useAttempt();
  const stop = (): void => stopping.current?.abort();
  useEffect(() => () => stopping.current?.abort(), []);
  const noteExperiment = useCallback((id: RequestId) => void store.experiments.set(id, 'check'), [store]);
  const start = async (): Promise<void> => {
    const { signal } = (stopping.current = new AbortController());
    setIsRunning(true);
    await attempt(async () => {
      await serve.check({ signal, onProgress: setReport, onRequest: noteExperiment });
    });
    setIsRunning(false);
  };
  return { report, isRunning, refusal, start, stop };
}

/** What goes on, or how it went. */
function nowOf({ isOver, summary, step, lines }: CheckReport): string {
  if (isOver) return summary;
  const running = lines.find(({ outcome }) => outcome === 'running');
  return `${step || running?.title || 'Starting'} …`;
}

function CopyReport({ report }: { readonly report: CheckReport }) {
  const { said, copy } = useCopy();
  const { text, ...figures } = report;
  return (
    <>
      <Button onClick={() => void copy(text, 'Copied as text.')}>Copy report</Button>
      <Button onClick={() => void copy(JSON.stringify(figures, null, 2), 'Copied as JSON.')}>
        Copy JSON
      </Button>
      <output className="note">{said}</output>
    </>
  );
}

const OUTCOMES: Readonly<Record<CheckOutcome, readonly [text: string, className: string]>> = {
  waiting: ['Waiting', 'muted'],
  running: ['Running', 'muted'],
  right: ['Right', 'good'],
  wrong: ['Wrong', 'bad'],
  'not-run': ['Not run', 'warn'],
};

function Lines({ lines }: { readonly lines: readonly CheckLine[] }) {
  return (
    <ul className="check-lines wrap stack loose">
      {lines.map(({ name, title, outcome, detail }) => {
        const [text, className] = OUTCOMES[outcome];
        return (
          <li key={name} data-outcome={outcome}>
            <strong className={className}>{text}</strong>
            <span>{title}</span>
            {detail && <span className="note">{detail}</span>}
          </li>
        );
      })}
    </ul>
  );
}

const SIZES = [1, 4, 8, 16];

const COLUMNS = ['Tokens a second', ...SIZES.map((size) => `${size} at once`), 'Longest pause', 'Memory'];

function Figures({ backends }: { readonly backends: readonly CheckedBackend[] }) {
  return (
    <>
      <ScrollBox label="Figures" className="spaced-below">
        <table className="scroll-table">
          <TableHead titles={COLUMNS} />
          <tbody>
            {backends.map(({ name, adapter, rates, longestPauseMs, bytesPerSecond }) => (
              <tr key={name}>
                <th scope="row">{adapter}</th>
                {SIZES.map((size) => (
                  <td key={size}>
                    {formatNumber(rates.find(({ numTexts }) => numTexts === size)?.tokensPerSecond)}
                  </td>
                ))}
                <td>{formatMs(longestPauseMs)}</td>
                <td>{bytesPerSecond === undefined ? NO_VALUE : `${formatBytes(bytesPerSecond)}/s`}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </ScrollBox>
      <p className="note">
        The pause is the longest of eight texts while a long prompt is read. Memory is what one thread of the
        CPU reads.
      </p>
    </>
  );
}
