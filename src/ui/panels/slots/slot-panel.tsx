import { lazy, Suspense, useCallback, useId, useRef, useState, type CSSProperties } from 'react';
import { useStore } from 'zustand';
import { shallow } from 'zustand/shallow';

import { useDrawing } from '../../drawing/use-drawing.ts';
import { useRecordedView, useServe, useServeView } from '../../state/serve-context.ts';
import { watchSettings } from '../watch/watch-settings.ts';
import type { Sender } from '../../state/sender.ts';
import { SlotHead } from './slot-head.tsx';
import './slot-panel.css';

const TraceDialog = lazy(async () => ({ default: (await import('./trace-dialog.tsx')).TraceDialog }));

const NO_SENDERS: readonly (Sender | undefined)[] = [];
const RECORDING: readonly (Sender | undefined)[] = [undefined];

/** One lane for each K/V slot: who joins, who leaves, and how long each waits. */
export function SlotPanel({ isRecording = false }: { readonly isRecording?: boolean }) {
  const { store } = useServe();
  const titleId = useId();
  const isEmpty = useRecordedView(({ history }) => history.slots.bars.length === 0);
  const tracedId = useStore(watchSettings, (settings) => settings.tracedId);
  const [senders, setSenders] = useState(NO_SENDERS);
  const fieldRef = useRef<HTMLDivElement>(null);
  const lanesRef = useRef<HTMLDivElement>(null);
  const canvasRef = useRef<HTMLCanvasElement>(null);
  const cursorRef = useRef<HTMLDivElement>(null);
  const readoutRef = useRef<HTMLParagraphElement>(null);
  const maxBatchSize = useServeView(({ status }) => status.policy.maxBatchSize);
  const style: CSSProperties & Record<'--lanes', number> = { '--lanes': maxBatchSize };

  const load = useCallback(async () => {
    const { SlotDrawing } = await import('./slot-drawing.ts');
    return () => {
      const [field, lanes, canvas] = [fieldRef.current, lanesRef.current, canvasRef.current];
      const [cursor, readout] = [cursorRef.current, readoutRef.current];
      if (!field || !lanes || !canvas || !cursor || !readout) return undefined;
      return new SlotDrawing({ field, lanes, canvas, cursor, readout }, store, (next) =>
        setSenders((known) => (shallow(known, next) ? known : next)),
      );
    };
  }, [store]);
  useDrawing(load);

  return (
    <section className="slots panel" aria-labelledby={titleId}>
      <SlotHead titleId={titleId} senders={isRecording ? RECORDING : senders} isRecording={isRecording} />
      <div className="slots-body ground">
        <section
          className="slots-field"
          ref={fieldRef}
          data-testid="slot-timeline"
          style={style}
          aria-label="Slots over time: arrow keys choose a moment, + and − zoom, Escape shows all"
          // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- its keys choose a moment, zoom and scroll
          tabIndex={0}
        >
          <div ref={lanesRef}>
            <canvas ref={canvasRef} aria-hidden="true" />
          </div>
        </section>
        <div className="slots-cursor" ref={cursorRef} hidden>
          <span className="crosshair-time" />
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
