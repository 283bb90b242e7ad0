import { memo } from 'react';
import type { MouseEvent } from 'react';

import type { ClientId, RequestId } from '../../worker/protocol.ts';
import { ErrorLine } from '../error-line.tsx';
import { formatCount, formatMs, formatNumber, NO_VALUE } from '../format.ts';
import { slotSettings } from '../slots/slot-settings.ts';
import { isActive } from '../state/request-view.ts';
import type { RequestView } from '../state/request-view.ts';
import { useServe, useServeView } from '../state/serve-context.ts';
import { RequestText } from './request-text.tsx';

interface RequestRowProps {
  readonly id: RequestId;
}

/** Selects its own request alone: a token of one row renders no other. */
export const RequestRow = memo(function RequestRow({ id }: RequestRowProps) {
  const request = useServeView((view) => view.requests.get(id));
  if (!request) return null;
  const { status, error } = request;
  return (
    <li
      className="request"
      data-request-id={id}
      data-status={status}
      data-owner={request.clientId === undefined ? 'this tab' : 'another tab'}
      tabIndex={-1}
    >
      <RowHead request={request} />
      <RequestText
        prompt={request.prompt}
        generatedTexts={request.generatedTexts}
        isRunning={status === 'running'}
      >
        {request.clientId !== undefined && <p className="request-note">Its text goes to its own tab.</p>}
        {error && <ErrorLine error={error} />}
      </RequestText>
      <RowFigures request={request} />
    </li>
  );
});

/** Short, and the same in every tab that shows it. */
function tabName(clientId: ClientId): string {
  return `tab ${clientId.slice(0, 4)}`;
}

interface RowPartProps {
  readonly request: RequestView;
}

function RowHead({ request: { id, ordinal, clientId, status, finishReason } }: RowPartProps) {
  const { serve } = useServe();
  const cancel = (event: MouseEvent<HTMLElement>): void => {
    // The button goes with the request: its row takes the focus, so that the keyboard goes on from here.
    event.currentTarget.closest('li')?.focus();
    serve.cancel(id);
  };
  return (
    <div className="request-head">
      <span className="request-ordinal">{clientId === undefined ? `#${ordinal}` : tabName(clientId)}</span>
      <span className="request-status">
        {status}
        {finishReason && ` · ${finishReason}`}
      </span>
      <button
        type="button"
        className="button-quiet request-trace"
        disabled={status === 'waiting'}
        aria-label={`Trace ${clientId === undefined ? `request ${ordinal}` : `a request of ${tabName(clientId)}`}`}
        onClick={() => slotSettings.setState({ tracedId: id })}
      >
        Trace
      </button>
      {clientId === undefined && isActive(status) && (
        <button
          type="button"
          className="button-quiet"
          aria-label={`Cancel request ${ordinal}`}
          onClick={cancel}
        >
          Cancel
        </button>
      )}
    </div>
  );
}

function RowFigures({ request }: RowPartProps) {
  return (
    <dl className="request-figures">
      <RowFigure name="Queue wait" value={formatMs(request.queueWaitMs)} />
      <RowFigure name="TTFT" value={formatMs(request.ttftMs)} />
      <RowFigure name="Tokens" value={formatCount(request.numOutputTokens)} />
      <RowFigure name="Tokens/s" value={formatNumber(request.tokensPerSecond)} />
      <RowFigure name="Seed" value={request.seed === undefined ? NO_VALUE : String(request.seed)} />
    </dl>
  );
}

function RowFigure({ name, value }: { readonly name: string; readonly value: string }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </div>
  );
}
