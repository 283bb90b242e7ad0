import { memo, useLayoutEffect, useRef, useState } from 'react';
import type { MouseEvent } from 'react';
import { shallow } from 'zustand/shallow';

import type { RequestId } from '../../worker/protocol/ids.ts';
import { Button } from '../button.tsx';
import { ErrorLine } from '../error-line.tsx';
import { describeOwner } from '../slots/describe-bar.ts';
import { watchSettings } from '../watch/watch-settings.ts';
import { isActive } from '../state/request-view.ts';
import type { RequestView } from '../state/request-view.ts';
import { useIsUpstream, useServe, useServeView } from '../state/serve-context.ts';
import { drawRequest, REQUEST_FIGURES } from './draw-request.ts';
import { RequestText } from './request-text.tsx';

/** Renders when its request changes its state. Tokens and figures are drawn beside React, in turns with the other rows. */
export const RequestRow = memo(function RequestRow({ id }: { readonly id: RequestId }) {
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
        {clientId !== undefined && <p className="note">Its text goes to its own tab.</p>}
        {error && <ErrorLine error={error} />}
      </RequestText>
      {/* `drawRequest` fills in the values. */}
      <dl className="request-figures">
        {REQUEST_FIGURES.map(({ name }) => (
          <div key={name}>
            <dt className="muted">{name}</dt>
            <dd />
          </div>
        ))}
      </dl>
    </li>
  );
});

function outlineOf(request: RequestView | undefined) {
  if (!request) return undefined;
  const { id, ordinal, clientId, status, prompt, finishReason, error, generatedTexts } = request;
  const numTexts = generatedTexts.length;
  return { id, ordinal, clientId, status, prompt, finishReason, error, numTexts };
}

type RequestOutline = NonNullable<ReturnType<typeof outlineOf>>;

function RowHead({ request }: { readonly request: RequestOutline }) {
  const { id, ordinal, clientId, status, finishReason } = request;
  const { serve } = useServe();
  const isUpstream = useIsUpstream();
  const hasTrace = useServeView(({ history }) => history.slots.requestIds.has(id));
  const cancel = (event: MouseEvent<HTMLElement>): void => {
    // The button goes with the request, so its row takes the focus.
    event.currentTarget.closest('li')?.focus();
    serve.cancel(id);
  };
  return (
    <div className="request-head">
      <span className="request-ordinal muted">{describeOwner(request)}</span>
      <span className="request-status">
        {status}
        {finishReason && ` · ${finishReason}`}
      </span>
      {!isUpstream && (
        <Button
          variant="quiet"
          disabled={!hasTrace}
          aria-label={`Trace ${clientId === undefined ? `request ${ordinal}` : `a request of ${describeOwner(request)}`}`}
          onClick={() => watchSettings.setState({ tracedId: id })}
        >
          Trace
        </Button>
      )}
      {clientId === undefined && isActive(status) && (
        <Button variant="quiet" aria-label={`Cancel request ${ordinal}`} onClick={cancel}>
          Cancel
        </Button>
      )}
    </div>
  );
}
