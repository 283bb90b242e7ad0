import { lazy, Suspense, useEffect, useMemo, useRef } from 'react';
import { useStore } from 'zustand';

import { useServe, useServeView } from '../state/serve-context.ts';
import type { SlotBar } from '../state/slot-history.ts';
import { describeBar } from './describe-bar.ts';
import { AXIS_HEIGHT } from './draw-slots.ts';
import { LANES_HEIGHT, mountSlots } from './mount-slots.ts';
import './slot-panel.css';
import { SLOT_WINDOWS_MS, slotSettings } from './slot-settings.ts';
import { TabColors } from './tab-colors.ts';

const TraceDialog = lazy(async () => {
  const module = await import('./trace-dialog.tsx');
  return { default: module.TraceDialog };
});

/** One lane for each K/V slot: who joins, who leaves, and what each waits for. */
export function SlotPanel() {
  const { store } = useServe();
  const isEmpty = useServeView(({ history }) => history.slots.numBars === 0);
  const tracedId = useStore(slotSettings, (settings) => settings.tracedId);
  const lanesRef = useRef<HTMLCanvasElement>(null);
  const barsRef = useRef<HTMLCanvasElement>(null);
  const readoutRef = useRef<HTMLParagraphElement>(null);
  const tabColors = useMemo(() => new TabColors(), []);

  useEffect(() => {
    const [lanes, bars, readout] = [lanesRef.current, barsRef.current, readoutRef.current];
    if (!lanes || !bars || !readout) return undefined;
    return mountSlots({ lanes, bars }, store, tabColors, {
      onHover: (bar) => {
        readout.textContent = bar ? describeBar(bar) : '';
      },
      onSelect: trace,
    });
  }, [store, tabColors]);

  const traceNewest = (): void => {
    const newest = store.getState().history.slots.requestIds.at(-1);
    if (newest !== undefined) slotSettings.setState({ tracedId: newest });
  };

  return (
    <section className="panel slots" aria-labelledby="slots-title">
      <div className="panel-head">
        <h2 id="slots-title">K/V slots</h2>
        <p className="slots-key">
          <span className="key-queue" /> queue wait <span className="key-prefill" /> prefill{' '}
          <span className="key-decode" /> decode <span className="key-cut" /> cut off
        </p>
        <WindowSelect />
        <button type="button" className="button-small" disabled={isEmpty} onClick={traceNewest}>
          Trace newest
        </button>
      </div>
      <div className="slots-body">
        <canvas ref={lanesRef} style={{ height: AXIS_HEIGHT + LANES_HEIGHT }} aria-hidden="true" />
        <canvas ref={barsRef} className="slots-bars" data-testid="slot-timeline" aria-hidden="true" />
        {isEmpty && (
          <p className="slots-empty">
            Send a prompt: it gets a bar in the lane of the slot that keeps its keys and values.
          </p>
        )}
      </div>
      <p className="slots-readout" ref={readoutRef} aria-hidden="true" />
      {tracedId !== undefined && (
        <Suspense>
          <TraceDialog requestId={tracedId} tabColors={tabColors} />
        </Suspense>
      )}
    </section>
  );
}

function WindowSelect() {
  const windowMs = useStore(slotSettings, (settings) => settings.windowMs);
  return (
    <label>
      Window{' '}
      <select
        value={windowMs}
        onChange={(event) => slotSettings.setState({ windowMs: Number(event.target.value) })}
      >
        {SLOT_WINDOWS_MS.map((ms) => (
          <option key={ms} value={ms}>
            {ms / 1000} s
          </option>
        ))}
      </select>
    </label>
  );
}

function trace({ requestId }: SlotBar): void {
  slotSettings.setState({ tracedId: requestId });
}
