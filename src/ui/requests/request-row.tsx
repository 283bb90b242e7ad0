import { memo, useLayoutEffect, useRef, useState } from 'react';
import type { MouseEvent } from 'react';
import { shallow } from 'zustand/shallow';

import type { ClientId, RequestId } from '../../worker/protocol/protocol.ts';
import { ErrorLine } from '../error-line.tsx';
import { slotSettings } from '../slots/slot-settings.ts';
import { isActive } from '../state/request-view.ts';
import type { RequestView } from '../state/request-view.ts';
import { useServe, useServeView } from '../state/serve-context.ts';
import { drawRequest, REQUEST_FIGURES } from './draw-request.ts';
import { RequestText } from './request-text.tsx';
import { useHasTrace } from './use-has-trace.ts';

interface RequestRowProps {
  readonly id: RequestId;
}

/** Renders when its request changes its state; tokens and figures are drawn beside React, in turns with the other rows. */
export const RequestRow = memo(function RequestRow({ id }: RequestRowProps) {
  const { store } = useServe();
  const [request, setRequest] = useState(() => outlineOf(store.getState().requests.get(id)));
  const rowRef = useRef<HTMLLIElement>(null);
  const numTexts = request?.numTexts;

  useLayoutEffect(() => {
    const row = rowRef.current;
    if (!row || numTexts === undefined) return undefined;
    let outline: RequestOutline | undefined;
    return drawRequest(row, id, store, (drawn) => {
      const next = outlineOf(drawn);
      if (shallow(outline, next)) return;
      outline = next;
      setRequest((previous) => (shallow(previous, next) ? previous : next));
    });
  }, [id, store, numTexts]);

  if (!request) return null;
  const { status, error, clientId } = request;
  return (
    <li
      className="request"
      ref={rowRef}
      data-request-id={id}
      data-status={status}
      data-owner={clientId === undefined ? 'this tab' : 'another tab'}
      tabIndex={-1}
    >
      <RowHead request={request} />
      <RequestText prompt={request.prompt} numTexts={request.numTexts} isRunning={status === 'running'}>
        {clientId !== undefined && <p className="request-note">Its text goes to its own tab.</p>}
        {error && <ErrorLine error={error} />}
      </RequestText>
      <RowFigures />
    </li>
  );
});

/** What no token changes. */
function outlineOf(request: RequestView | undefined) {
  if (!request) return undefined;
  const { id, ordinal, clientId, status, prompt, finishReason, error, generatedTexts } = request;
  const numTexts = generatedTexts.length;
  return { id, ordinal, clientId, status, prompt, finishReason, error, numTexts };
}

type RequestOutline = NonNullable<ReturnType<typeof outlineOf>>;

/** Short, and the same in every tab that shows it. */
function tabName(clientId: ClientId): string {
  return `tab ${clientId.slice(0, 4)}`;
}

interface RowHeadProps {
  readonly request: RequestOutline;
}

function RowHead({ request: { id, ordinal, clientId, status, finishReason } }: RowHeadProps) {
  const { serve } = useServe();
  // Its batches are its own.
  const isUpstream = useServeView((view) => view.status.backend?.name === 'upstream');
  const hasTrace = useHasTrace(id);
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
      {!isUpstream && (
        <button
          type="button"
          className="button-quiet"
          disabled={!hasTrace}
          aria-label={`Trace ${clientId === undefined ? `request ${ordinal}` : `a request of ${tabName(clientId)}`}`}
          onClick={() => slotSettings.setState({ tracedId: id })}
        >
          Trace
        </button>
      )}
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

/** Their values are `drawRequest`'s. */
function RowFigures() {
  return (
    <dl className="request-figures">
      {REQUEST_FIGURES.map(({ name }) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd />
        </div>
      ))}
    </dl>
  );
}
