import type uPlot from 'uplot';
import type { Axis, Options, Scale } from 'uplot';

import { STEPS_S } from '../slots/slot-axis.ts';
import { color, createAxis, toX, type Scene } from './chart-spec.ts';

/** A plot lower than this, in CSS pixels, has no room for axes. */
const MIN_HEIGHT_WITH_AXES = 100;
const AXIS_HEIGHT = 22;

/** Whether the plot is part of a strip, where the only label is the largest value. */
export function isStrip(chart: uPlot): boolean {
  return chart.height < MIN_HEIGHT_WITH_AXES;
}

/** The same at all charts, so that their axes are level. */
export const PADDING: NonNullable<Options['padding']> = [
  (chart) => (isStrip(chart) ? 2 : 8),
  (chart) => (isStrip(chart) ? 0 : 18),
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

/** Pixels between the plot and the labels; half of them in a strip. */
export function timeAxis(roomAbove = 0): Axis {
  return createAxis({
    grid: { show: false },
    gap: 5 + roomAbove,
    size: (chart) => (isStrip(chart) ? roomAbove / 2 : AXIS_HEIGHT + roomAbove),
    space: 64,
    incrs: STEPS_S,
    values: (chart, splits) => splits.map((seconds) => (isStrip(chart) ? '' : formatSeconds(seconds))),
  });
}

/** Its labels are `format`ted; in a strip there are none. */
export function valueAxis(
  size: number,
  format: (value: number) => string,
  axis: Omit<Axis, 'size' | 'values'> = {},
): Axis {
  return createAxis({
    size: (chart) => (isStrip(chart) ? 0 : size),
    values: (chart, splits) => splits.map((value) => (isStrip(chart) ? '' : format(value))),
    ...axis,
  });
}

/** “0.2 s”, “12 s”, “1:05”. */
export function formatSeconds(seconds: number): string {
  if (seconds < 59.995) return `${Number(seconds.toFixed(2))} s`;
  const hundredths = Math.round(seconds * 100);
  const [minutes, rest] = [Math.floor(hundredths / 6000), (hundredths % 6000) / 100];
  return `${minutes}:${rest < 10 ? '0' : ''}${rest}`;
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
