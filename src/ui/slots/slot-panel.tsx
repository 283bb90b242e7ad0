import { lazy, Suspense, useEffect, useId, useRef, useState } from 'react';
import { useStore } from 'zustand';

import { useRecordedView, useServe } from '../state/serve-context.ts';
import { watchSettings } from '../watch/watch-settings.ts';
import type { Sender } from './describe-bar.ts';
import { SlotDrawing } from './slot-drawing.ts';
import { SlotHead } from './slot-head.tsx';
import './slot-panel.css';

const TraceDialog = lazy(async () => ({ default: (await import('./trace-dialog.tsx')).TraceDialog }));

const NO_SENDERS: readonly Sender[] = [];

/** One lane for each K/V slot: who joins, who leaves, and how long each waits. */
export function SlotPanel() {
  const { store } = useServe();
  const titleId = useId();
  const isEmpty = useRecordedView(({ history }) => history.slots.bars.length === 0);
  const tracedId = useStore(watchSettings, (settings) => settings.tracedId);
  const [senders, setSenders] = useState(NO_SENDERS);
  const fieldRef = useRef<HTMLDivElement>(null);
  const barsRef = useRef<HTMLCanvasElement>(null);
  const textsRef = useRef<HTMLCanvasElement>(null);
  const cursorRef = useRef<HTMLDivElement>(null);
  const readoutRef = useRef<HTMLParagraphElement>(null);

  useEffect(() => {
    const [field, bars, texts] = [fieldRef.current, barsRef.current, textsRef.current];
    const [cursor, readout] = [cursorRef.current, readoutRef.current];
    if (!field || !bars || !texts || !cursor || !readout) return undefined;
    const drawing = new SlotDrawing({ field, bars, texts, cursor, readout }, store, (next) =>
      setSenders((known) => (namesOf(known) === namesOf(next) ? known : next)),
    );
    return () => drawing.release();
  }, [store]);

  return (
    <section className="slots panel" aria-labelledby={titleId}>
      <SlotHead titleId={titleId} senders={senders} />
      <div className="slots-body">
        <div className="slots-field" ref={fieldRef} data-testid="slot-timeline" aria-hidden="true">
          <canvas className="slots-bars" ref={barsRef} />
          <canvas ref={textsRef} />
          <div className="slots-cursor" ref={cursorRef} hidden />
        </div>
        {isEmpty && (
          <p className="slots-empty empty-note note">
            Each request appears here as a bar, in the slot that holds its keys and values.
          </p>
        )}
        <p className="slots-readout note" ref={readoutRef} aria-hidden="true" hidden />
      </div>
      {tracedId !== undefined && (
        <Suspense>
          <TraceDialog requestId={tracedId} />
        </Suspense>
      )}
    </section>
  );
}

function namesOf(senders: readonly Sender[]): string {
  return senders.map(({ name }) => name).join();
}
