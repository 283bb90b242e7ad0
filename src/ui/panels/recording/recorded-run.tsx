import { useLayoutEffect, useRef } from 'react';
import { useStore } from 'zustand';

import type { RequestId } from '../../../client/index.ts';
import { drawRequest } from '../requests/draw-request.ts';
import { watchSettings } from '../watch/watch-settings.ts';
import { describeMoment } from './describe-moment.ts';
import { isOf } from './play-recording.ts';
import type { Recording } from './recording.ts';

/** The line and the texts of a recording, in the places of a run's own. Only the line is read aloud. */
export function RecordedRun({ recording }: { readonly recording: Recording }) {
  const text = useStore(watchSettings, ({ replay }) =>
    describeMoment(recording, isOf(recording.run, replay) ? replay?.atMs : undefined),
  );
  return (
    <>
      <div className="run-line cluster">
        <p className="run-text">{text}</p>
      </div>
      <div className="cells-place">
        <div className="cells" aria-hidden="true" inert>
          {recording.run.requestIds.map((id) => (
            <RecordedCell key={id} id={id} recording={recording} />
          ))}
        </div>
      </div>
    </>
  );
}

function RecordedCell({
  id,
  recording: { store },
}: {
  readonly id: RequestId;
  readonly recording: Recording;
}) {
  const cellRef = useRef<HTMLDivElement>(null);
  const request = store.getState().requests.get(id);
  useLayoutEffect(() => {
    const [cell, box] = [cellRef.current, cellRef.current?.querySelector('.request-text-box')];
    if (!cell || !box) return undefined;
    // While it grows, its end is in view; then, its beginning.
    return drawRequest(cell, id, store, () => {
      box.scrollTop = watchSettings.getState().replay ? box.scrollHeight : 0;
    });
  }, [id, store]);
  return (
    <div className="cell" ref={cellRef}>
      <div className="cell-head">
        <p className="cell-line one-line">
          <span className="cell-dot" /> <span className="muted">#{request?.ordinal}</span>{' '}
          <span className="cell-state" />
        </p>
      </div>
      <div className="request-text">
        <div className="request-text-box">
          <p>
            {request?.prompt}
            <mark />
          </p>
        </div>
      </div>
      <p className="cell-figures one-line note">
        <span />
        <span className="cell-more" />
      </p>
    </div>
  );
}
