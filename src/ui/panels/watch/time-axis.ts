import type uPlot from 'uplot';
import type { Axis, Options, Scale } from 'uplot';

import { formatSeconds, STEPS_S, TICK_DISTANCE, ticksBetween } from './slot-axis.ts';
import { color, createAxis, GRID, toX, type Scene } from './chart-spec.ts';
import { INSETS } from './shared-axis.ts';

/** A plot lower than this, in CSS pixels, has no room for axes. */
const MIN_HEIGHT_WITH_AXES = 64;
const AXIS_HEIGHT = 22;

/** Whether the plot is part of a strip, where the only label is the largest value. */
export function isStrip(chart: uPlot): boolean {
  return chart.height < MIN_HEIGHT_WITH_AXES;
}

/** The same at all charts, so that their axes are level. */
export const PADDING: NonNullable<Options['padding']> = [
  (chart) => (isStrip(chart) ? 2 : 8),
  (chart) => (isStrip(chart) ? 0 : INSETS.right),
  (chart) => (isStrip(chart) ? 2 : 0),
  () => 0,
];

export function timeScale(scene: () => Scene): Scale {
  return {
    time: false,
    range: () => {
      const { span } = scene();
      return [toX(span.startMs, span), toX(span.endMs, span)];
    },
  };
}

/** @param room Pixels between the plot and the labels. */
export function timeAxis(room = 0): Axis {
  return createAxis({
    grid: { show: false },
    gap: 5 + room,
    size: (chart) => (isStrip(chart) ? 0 : AXIS_HEIGHT + room),
    space: 64,
    incrs: STEPS_S,
    values: (chart, splits) => splits.map((seconds) => (isStrip(chart) ? '' : formatSeconds(seconds))),
  });
}

/**
 * The lines of the slots' times, which stand below them.
 *
 * @param room Pixels below the plot; half of them in a strip.
 * @param hasTimes Where no slots follow, the chart has the times.
 */
export function linesOfSlots(room: number, hasTimes = false): Axis {
  return createAxis({
    grid: GRID,
    size: (chart) => (isStrip(chart) ? room / 2 : room + (hasTimes ? AXIS_HEIGHT : 0)),
    splits: (chart, _axis, min, max) =>
      ticksBetween(min, max, chart.bbox.width / devicePixelRatio / TICK_DISTANCE).map(
        ({ seconds }) => seconds,
      ),
    values: (chart, splits) =>
      splits.map((seconds) => (hasTimes && !isStrip(chart) ? formatSeconds(seconds) : '')),
  });
}

/** Its labels are `format`ted; in a strip there are none. */
export function valueAxis(format: (value: number) => string, axis: Omit<Axis, 'size' | 'values'> = {}): Axis {
  return createAxis({
    size: (chart) => (isStrip(chart) ? 0 : INSETS.left),
    values: (chart, splits) => splits.map((value) => (isStrip(chart) ? '' : format(value))),
    ...axis,
  });
}

/** In a strip, the largest value of the scale is written into the plot. */
export function drawStripLabel(chart: uPlot, text: string): void {
  if (!isStrip(chart) || chart.data[0].length === 0) return;
  const { left, top } = chart.bbox;
  drawText(chart, text, { x: left + 2 * devicePixelRatio, y: top + 6 * devicePixelRatio, align: 'left' });
}

interface TextPlace {
  readonly x: number;
  readonly y: number;
  readonly align: CanvasTextAlign;
}

/** With a halo, because it may lie on marks. In pixels of the canvas. */
export function drawText({ ctx }: uPlot, text: string, { x, y, align }: TextPlace): void {
  ctx.save();
  ctx.font = `${11 * devicePixelRatio}px system-ui, sans-serif`;
  ctx.textAlign = align;
  ctx.textBaseline = 'middle';
  ctx.lineJoin = 'round';
  ctx.lineWidth = 3 * devicePixelRatio;
  ctx.strokeStyle = color('--paper')();
  ctx.strokeText(text, x, y);
  ctx.fillStyle = color('--ink-2')();
  ctx.fillText(text, x, y);
  ctx.restore();
}
