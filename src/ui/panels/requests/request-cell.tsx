import { memo, useLayoutEffect, useRef, useState } from 'react';
import type { CSSProperties, MouseEvent, RefObject } from 'react';
import { shallow } from 'zustand/shallow';

import type { RequestId } from '../../../client/index.ts';
import { ErrorLine } from '../../parts/error-line.tsx';
import { IconButton } from '../../parts/icon-button.tsx';
import { describeOwner } from '../slots/describe-owner.ts';
import { tabColor } from '../slots/tab-colors.ts';
import { hasMotion } from './motion.ts';
import { isActive, type RequestView } from '../../state/request-view.ts';
import { useIsServer, useRecordedView, useServe, useServeView } from '../../state/serve-context.ts';
import { watchSettings } from '../watch/watch-settings.ts';
import { drawRequest } from './draw-request.ts';
import { RequestText } from './request-text.tsx';

/** Renders when its request changes its state. Tokens and figures are drawn without React, a few cells in each frame. */
export const RequestCell = memo(function RequestCell({ id }: { readonly id: RequestId }) {
  const cellRef = useRef<HTMLLIElement>(null);
  const request = useOutline(id, cellRef);
  const owner = useServeView(({ status }) => describeOwner(request, status.tabs));
  if (!request) return null;
  const { status, error, sender, isCut } = request;
  const style: CSSProperties & Record<'--tab-color', string> = {
    '--tab-color': `var(${tabColor(sender)})`,
  };
  return (
    <li
      className="cell"
      ref={cellRef}
      data-request-id={id}
      data-status={status}
      data-cut={isCut || undefined}
      data-owner={sender === undefined ? 'this tab' : 'another tab'}
      style={style}
      tabIndex={-1}
    >
      <CellHead request={request} owner={owner} />
      <RequestText prompt={request.prompt} numTexts={request.numTexts} isRunning={status === 'running'}>
        {error && <ErrorLine error={error} />}
        {sender !== undefined && (
          <p className="note">{sender === 'HTTP' ? 'Sent to an HTTP client.' : `Shown in ${owner}.`}</p>
        )}
      </RequestText>
      <p className="cell-figures one-line note">
        <span />
        <span className="cell-more" />
      </p>
    </li>
  );
});

/** Draws the request's texts and figures into its cell, and returns all else about the request. */
function useOutline(id: RequestId, cellRef: RefObject<HTMLElement | null>): RequestOutline | undefined {
  const { store } = useServe();
  const [request, setRequest] = useState(() => outlineOf(store.getState().requests.get(id)));
  const numTexts = request?.numTexts;

  useLayoutEffect(() => {
    const cell = cellRef.current;
    if (!cell || numTexts === undefined) return undefined;
    let outline: RequestOutline | undefined;
    return drawRequest(cell, id, store, (drawn) => {
      const next = outlineOf(drawn);
      if (shallow(outline, next)) return;
      const hasEnded = outline && isActive(outline.status) && !isActive(drawn.status);
      if (hasEnded && hasMotion(store.getState())) cell.dataset['hasEnded'] = '';
      outline = next;
      setRequest((previous) => (shallow(previous, next) ? previous : next));
    });
  }, [id, store, numTexts, cellRef]);

  return request;
}

function outlineOf(request: RequestView | undefined) {
  if (!request) return undefined;
  const { id, ordinal, sender, status, prompt, error, generatedTexts } = request;
  const numTexts = generatedTexts.length;
  const isCut = request.finishReason === 'length';
  return { id, ordinal, sender, status, prompt, error, numTexts, isCut };
}

type RequestOutline = NonNullable<ReturnType<typeof outlineOf>>;

interface CellHeadProps {
  readonly request: RequestOutline;
  /** Its name. */
  readonly owner: string;
}

function CellHead({ request, owner }: CellHeadProps) {
  const { id, ordinal, sender, status } = request;
  const { serve } = useServe();
  const isServer = useIsServer();
  const hasTrace = useRecordedView(({ history }) => history.slots.has(id));
  const cancel = (event: MouseEvent<HTMLElement>): void => {
    // The button goes with the request, so its cell takes the focus.
    event.currentTarget.closest('li')?.focus();
    serve.cancel(id);
  };
  return (
    <div className="cell-head">
      <p className="cell-line one-line">
        <span className="cell-dot" /> <span className="muted">{owner}</span> <span className="cell-state" />
      </p>
      <div className="cell-acts">
        {sender === undefined && isActive(status) && (
          <IconButton label={`Cancel request ${ordinal}`} hint="Cancel" path={CANCEL_PATH} onClick={cancel} />
        )}
        {!isServer && (
          <IconButton
            label={`Trace ${sender === undefined ? `request ${ordinal}` : `a request of ${owner}`}`}
            hint="Trace"
            path={TRACE_PATH}
            disabled={!hasTrace}
            onClick={() => watchSettings.setState({ tracedId: id })}
          />
        )}
      </div>
    </div>
  );
}

/** Bars of steps, one after the other. */
const TRACE_PATH = 'M2 4h6M5 8h6M9 12h5';
const CANCEL_PATH = 'M4 4l8 8M12 4l-8 8';
