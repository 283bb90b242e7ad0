import type { CutReason } from '../../state/batch-view.ts';
import './cut-reasons.css';

interface ReasonText {
  readonly explanation: string;
  readonly color: string;
  /** A shape within ±6 of the origin, so that color isn't the only difference. */
  readonly path: string;
}

export const REASONS: Readonly<Record<CutReason, ReasonText>> = {
  full: {
    explanation: 'The batch reached the max batch size.',
    color: 'var(--series-decode)',
    path: 'M-5-5H5V5H-5Z',
  },
  deferred: {
    explanation: 'The next request didn’t fit. It stays first in the queue.',
    color: 'var(--series-ttft)',
    path: 'M0-6 6 0 0 6-6 0Z',
  },
  flush: {
    explanation: 'flush() sent the waiting requests.',
    color: 'var(--series-queue)',
    path: 'M-5-5H5L0 1ZM-5 3H5V5H-5Z',
  },
  close: {
    explanation: 'close() sent the waiting requests.',
    color: 'var(--ink)',
    path: 'M-5.5-3-3-5.5 0-2.5 3-5.5 5.5-3 2.5 0 5.5 3 3 5.5 0 2.5-3 5.5-5.5 3-2.5 0Z',
  },
  timeout: {
    explanation: 'The oldest request had waited for the batch wait timeout, or for a slot to be free.',
    color: 'var(--series-prefill)',
    path: 'M0-5.5A5.5 5.5 0 1 0 .01-5.5ZM-1-3H1V0H3.5V2H-1Z',
  },
  idle: {
    explanation: 'A slot was free and the batch wait timeout is 0, so the request started at once.',
    color: 'var(--series-itl)',
    path: 'M-4.5-5.5 5.5 0-4.5 5.5Z',
  },
};

/** The first that applies is the reason. */
const ORDER: readonly CutReason[] = ['full', 'deferred', 'flush', 'close', 'timeout', 'idle'];

export function ReasonName({ reason }: { readonly reason: CutReason }) {
  const { color, path } = REASONS[reason];
  return (
    <span className="reason-name nowrap">
      <svg className="reason-mark" viewBox="-6.5 -6.5 13 13" style={{ color }} aria-hidden="true">
        <path d={path} fillRule="evenodd" />
      </svg>
      {reason}
    </span>
  );
}

export function ReasonLegend() {
  return (
    <dl className="reason-legend stack small">
      {ORDER.map((reason) => (
        <div key={reason}>
          <dt className="strong">
            <ReasonName reason={reason} />
          </dt>
          <dd className="muted">{REASONS[reason].explanation}</dd>
        </div>
      ))}
    </dl>
  );
}
