import type { KeyboardEvent } from 'react';

import { formatMs } from '../../parts/format.ts';
import { MAX_SHOWN_BATCHES, type BatchView } from '../../state/batch-view.ts';
import { REASONS } from './cut-reasons.tsx';
import { axisTicks, type TimelineLayout, type TimelineRow } from '../../panels/watch/timeline-layout.ts';

interface TimelineProps {
  readonly layout: TimelineLayout;
  readonly width: number;
  readonly newest: BatchView | undefined;
  /** Called with the batch under the pointer or the focus. */
  readonly onActivate: (batchIndex: number | undefined) => void;
}

const HEIGHT = 296;
const AXIS_HEIGHT = 16;
const MAX_ROW_HEIGHT = 32;
const MAX_BAR_HEIGHT = 16;
const ROWS_HEIGHT = HEIGHT - AXIS_HEIGHT;
/** The width of a row's index, size, mark and reason. */
const LABEL_WIDTH = 132;
/** Half the width of the last tick's text. */
const RIGHT_MARGIN = 22;
const PIXELS_PER_TICK = 72;
const MIN_BAR_WIDTH = 2;

/** One row per batch: the wait as an outline, the execution as a block, the mark of the cut between them. */
export function Timeline({ layout, width, newest, onActivate }: TimelineProps) {
  const plotWidth = Math.max(0, width - LABEL_WIDTH - RIGHT_MARGIN);
  const rows = layout.busySpans.flat();
  const rowHeight = Math.min(MAX_ROW_HEIGHT, ROWS_HEIGHT / Math.max(1, rows.length));
  const spanTops = layout.busySpans
    .slice(1)
    .map(([first]) => rows.findIndex((row) => row === first) * rowHeight);
  const toX = (ms: number): number => LABEL_WIDTH + (ms / Math.max(layout.durationMs, 1)) * plotWidth;
  return (
    <svg
      className="timeline"
      width={width}
      height={HEIGHT}
      // Not `img`, which hides its rows from assistive technology.
      role="graphics-object"
      aria-label={`The last ${MAX_SHOWN_BATCHES} batches over time. The table of batches has the same numbers.`}
    >
      {rows.length > 0 && <Axis durationMs={layout.durationMs} plotWidth={plotWidth} toX={toX} />}
      <g className="timeline-rules" aria-hidden="true">
        {spanTops.map((top) => (
          <path key={top} d={`M0 ${top}H${width}`} />
        ))}
      </g>
      <g onPointerLeave={() => onActivate(undefined)}>
        {rows.map((row, index) => (
          <Row
            key={row.batch.batchIndex}
            row={row}
            top={index * rowHeight}
            height={rowHeight}
            width={width}
            toX={toX}
            isTabStop={row.batch === newest}
            onActivate={onActivate}
          />
        ))}
      </g>
    </svg>
  );
}

interface AxisProps {
  readonly durationMs: number;
  readonly plotWidth: number;
  readonly toX: (ms: number) => number;
}

function Axis({ durationMs, plotWidth, toX }: AxisProps) {
  return (
    <g className="timeline-axis" aria-hidden="true">
      {axisTicks(durationMs, plotWidth / PIXELS_PER_TICK).map((tick) => (
        <g key={tick} transform={`translate(${toX(tick)} 0)`}>
          <path d={`M0 0V${ROWS_HEIGHT}`} />
          <text y={HEIGHT - 3}>{tick}</text>
        </g>
      ))}
      <text x="0" y={HEIGHT - 3} className="timeline-unit">
        ms
      </text>
    </g>
  );
}

interface RowProps {
  readonly row: TimelineRow;
  readonly top: number;
  readonly height: number;
  readonly width: number;
  readonly toX: (ms: number) => number;
  readonly isTabStop: boolean;
  readonly onActivate: (batchIndex: number | undefined) => void;
}

function Row({ row, top, height, width, toX, isTabStop, onActivate }: RowProps) {
  const { batch, arrivedMs, cutMs, endedMs } = row;
  const { batchIndex, reason, outcome } = batch;
  const { color, path } = REASONS[reason];
  const [arrivedX, cutX] = [toX(arrivedMs), toX(cutMs)];
  const barHeight = Math.min(MAX_BAR_HEIGHT, height - 3);
  const barTop = (height - barHeight) / 2;
  return (
    <g
      className="timeline-row"
      style={{ color }}
      transform={`translate(0 ${top})`}
      role="graphics-symbol"
      aria-label={describeBatch(batch)}
      data-reason={reason}
      data-outcome={outcome}
      data-batch-index={batchIndex}
      tabIndex={isTabStop ? 0 : -1}
      onFocus={() => onActivate(batchIndex)}
      onBlur={() => onActivate(undefined)}
      onPointerEnter={() => onActivate(batchIndex)}
      onKeyDown={moveFocus}
    >
      <rect className="row-area" width={width} height={height} />
      <RowLabel batch={batch} y={height / 2} />
      <rect className="row-wait" x={arrivedX} y={barTop} width={cutX - arrivedX} height={barHeight} />
      <rect
        className="row-run"
        x={cutX}
        y={barTop}
        width={Math.max(MIN_BAR_WIDTH, toX(endedMs) - cutX)}
        height={barHeight}
      />
      <path className="row-cut" d={path} fillRule="evenodd" transform={`translate(${cutX} ${height / 2})`} />
    </g>
  );
}

function RowLabel({ batch, y }: { readonly batch: BatchView; readonly y: number }) {
  const { batchIndex, batchSize, reason } = batch;
  return (
    <g transform={`translate(0 ${y})`}>
      <text x="26" className="row-index">
        {batchIndex}
      </text>
      <text x="52" className="row-size">
        {batchSize}
      </text>
      <path d={REASONS[reason].path} fillRule="evenodd" transform="translate(64 0) scale(.8)" />
      <text x="73">{reason}</text>
    </g>
  );
}

function describeBatch({ batchIndex, batchSize, reason, waitMs, executionMs, outcome }: BatchView): string {
  return (
    `Batch ${batchIndex}: size ${batchSize}, ${reason}, waited ${formatMs(waitMs)}, ` +
    `ran ${formatMs(executionMs)}, ${outcome}`
  );
}

/** The arrow keys go from row to row. */
function moveFocus(event: KeyboardEvent<SVGGElement>): void {
  const row = event.currentTarget;
  const target = {
    ArrowUp: row.previousElementSibling,
    ArrowDown: row.nextElementSibling,
    Home: row.parentElement?.firstElementChild,
    End: row.parentElement?.lastElementChild,
  }[event.key];
  if (!(target instanceof SVGElement)) return;
  event.preventDefault();
  target.focus();
}
