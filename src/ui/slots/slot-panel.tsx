import { lazy, Suspense, useEffect, useRef } from 'react';
import { useStore } from 'zustand';

import { Button } from '../button.tsx';
import { Panel } from '../panel.tsx';
import { Select } from '../select.tsx';
import { useServe, useServeView } from '../state/serve-context.ts';
import { AXIS_HEIGHT } from './draw-slots.ts';
import { LANES_HEIGHT, mountSlots } from './mount-slots.ts';
import './slot-panel.css';
import { watchSettings } from '../watch/watch-settings.ts';

const TraceDialog = lazy(async () => ({ default: (await import('./trace-dialog.tsx')).TraceDialog }));

const WINDOWS = [2000, 10_000, 60_000].map((ms) => [ms, `${ms / 1000} s`] as const);

/** One lane for each K/V slot: who joins, who leaves, and what each waits for. */
export function SlotPanel() {
  const { store } = useServe();
  const isEmpty = useServeView(({ history }) => history.slots.requestIds.size === 0);
  const windowMs = useStore(watchSettings, (settings) => settings.slotWindowMs);
  const tracedId = useStore(watchSettings, (settings) => settings.tracedId);
  const lanesRef = useRef<HTMLCanvasElement>(null);
  const barsRef = useRef<HTMLCanvasElement>(null);
  const readoutRef = useRef<HTMLParagraphElement>(null);

  useEffect(() => {
    const [lanes, bars, readout] = [lanesRef.current, barsRef.current, readoutRef.current];
    return lanes && bars && readout ? mountSlots({ lanes, bars, readout }, store) : undefined;
  }, [store]);

  const traceNewest = (): void => {
    const newest = [...store.getState().history.slots.requestIds].at(-1);
    if (newest !== undefined) watchSettings.setState({ tracedId: newest });
  };

  const head = (
    <>
      <p className="slots-key note">
        <span className="swatch key-queue" /> queue wait <span className="swatch key-prefill" /> prefill{' '}
        <span className="swatch key-decode" /> decode <span className="swatch key-cut" /> cut off
      </p>
      <Select
        label="Window"
        className="note"
        value={windowMs}
        choices={WINDOWS}
        onChange={(ms) => watchSettings.setState({ slotWindowMs: ms })}
      />
      <Button variant="small" disabled={isEmpty} onClick={traceNewest}>
        Trace newest
      </Button>
    </>
  );

  return (
    <Panel title="K/V slots" className="slots" head={head}>
      <div className="slots-body">
        <canvas ref={lanesRef} style={{ height: AXIS_HEIGHT + LANES_HEIGHT }} aria-hidden="true" />
        <canvas ref={barsRef} className="slots-bars" data-testid="slot-timeline" aria-hidden="true" />
        {isEmpty && (
          <p className="empty-note">
            Send a prompt: it gets a bar in the lane of the slot that keeps its keys and values.
          </p>
        )}
      </div>
      <p className="slots-readout note" ref={readoutRef} aria-hidden="true" />
      {tracedId !== undefined && (
        <Suspense>
          <TraceDialog requestId={tracedId} />
        </Suspense>
      )}
    </Panel>
  );
}
