import type uPlot from 'uplot';

import { countOf, formatCount, NO_VALUE } from '../../parts/format.ts';
import { stepsBetween } from '../../state/run-summary.ts';
import { color, endingAtOrAfter, toX, type ChartColumns, type ChartSpec } from './chart-spec.ts';
import { BATCH_SIZE_HEAD } from './main-chart-heads.ts';
import { drawBehindPlot } from './highlighted-time.ts';
import { figuresOf, isRunning } from './run-figures.ts';
import { toStepRows } from './step-rows.ts';
import {
  drawStripLabel,
  drawText,
  isStrip,
  linesOfSlots,
  PADDING,
  timeScale,
  valueAxis,
} from './time-axis.ts';

const MIN_BATCH_RANGE = 4;
const HEADROOM = 1.1;
/** Bars that are wider than this on average, in CSS pixels, have a gap between them. */
const MIN_WIDTH_WITH_GAP = 4;
/** The strip of the waiting requests, below the plot. */
const WAITING_HEIGHT = 16;
const WAITING_GAP = 5;
/** The places of the columns that are no series, in every chart of such bars. */
const [WAITING, START] = [3, 4];
/** Room for the waiting requests, between the plot and its time axis. */
export const WAITING_ROOM = WAITING_GAP + WAITING_HEIGHT;

export const BATCH_SIZE_CHART: ChartSpec = {
  head: BATCH_SIZE_HEAD,
  columnNames: [
    "end of the step [s since the run's start]",
    'decode batch size [sequences]',
    'prefill batch size [sequences]',
    'waiting [requests]',
    "start of the step [s since the run's start]",
  ],
  isAboveSlots: true,
  highlightsRequests: true,
  showsHighlights: true,
  createOptions: (scene) => ({
    padding: PADDING,
    scales: {
      x: timeScale(scene),
      y: { range: (_chart, _min, max) => [0, Math.max(MIN_BATCH_RANGE, max ?? 0) * HEADROOM] },
    },
    axes: [
      linesOfSlots(WAITING_ROOM),
      valueAxis(formatCount, { incrs: [1, 2, 4, 5, 8, 10, 16, 20, 32, 50, 64, 100], space: 24 }),
    ],
    series: [{}, batchSeries('--series-decode'), batchSeries('--series-prefill')],
    hooks: {
      drawClear: [(chart) => drawBehindPlot(chart, scene())],
      draw: [
        drawWaiting,
        (chart) => drawStripLabel(chart, formatCount(Math.round((chart.scales['y']?.max ?? 0) / HEADROOM))),
      ],
    },
  }),
  read: ({ history }, span, numPixels): ChartColumns => {
    const steps = stepsBetween(history.slots.steps, span.startMs, span.untilMs);
    const rows = toStepRows(steps, span, numPixels);
    return [
      rows.map(({ endedAtMs }) => toX(endedAtMs, span)),
      rows.map(({ decode }) => decode),
      rows.map(({ prefill }) => prefill),
      rows.map(({ numWaiting }) => numWaiting),
      rows.map(({ startedAtMs }) => toX(startedAtMs, span)),
    ];
  },
  format: (value) => (value === null ? NO_VALUE : formatCount(value)),
  valueAt: (columns, line, x) => {
    if (x === undefined) return endingAtOrAfter(columns, line, x);
    const row = columns[0].findIndex((end) => end >= x);
    const isInStep = (columns[START]?.[row] ?? Infinity) <= x;
    return (isInStep ? columns[line + 1]?.[row] : null) ?? null;
  },
  valueOfRun: (columns, line) =>
    Math.max(0, ...(columns[line + 1] ?? []).map((value) => (typeof value === 'number' ? value : 0))),
  describe: (view) => {
    const { figures } = view;
    if (!figures) return 'no step yet';
    if (!isRunning(view))
      return `at most ${countOf(figuresOf(view).peakBatchSize ?? 0, 'sequence')} in a step of the run`;
    return `last step ${countOf(figures.lastBatchSize, 'sequence')}, ${figures.numRunning} running, ${figures.numWaiting} waiting`;
  },
};

/** A bar from the start of each step to its end. @param below The series on whose bars it stands. */
export function batchSeries(name: '--series-decode' | '--series-prefill', below?: number): uPlot.Series {
  const paths: uPlot.Series.PathBuilder = (chart, seriesIndex, first, last) => {
    const [xs, values, starts] = [chart.data[0], chart.data[seriesIndex], chart.data[START]];
    const bases = below === undefined ? undefined : chart.data[below];
    const fill = new Path2D();
    for (let row = first; row <= last; row += 1) {
      const value = values?.[row];
      if (!value) continue;
      const base = bases?.[row] ?? 0;
      const { left, width } = barPlace(chart, starts?.[row] ?? 0, xs[row] ?? 0);
      const [top, bottom] = [base + value, base].map((at) => Math.round(chart.valToPos(at, 'y', true)));
      fill.rect(left, top ?? 0, width, (bottom ?? 0) - (top ?? 0));
    }
    return { fill };
  };
  return { fill: color(name), width: 0, points: { show: false }, paths };
}

/** On whole pixels of the canvas, so that neighbors have no seam. */
function barPlace(chart: uPlot, start: number, end: number): { left: number; width: number } {
  const left = Math.round(chart.valToPos(start, 'x', true));
  const width = Math.round(chart.valToPos(end, 'x', true)) - left;
  const isSparse = chart.bbox.width > chart.data[0].length * MIN_WIDTH_WITH_GAP * devicePixelRatio;
  const gap = isSparse ? Math.round(devicePixelRatio) : 0;
  return { left, width: Math.max(1, width - gap) };
}

/** On a scale of its own, whose largest value is written beside it. */
export function drawWaiting(chart: uPlot): void {
  const { ctx, bbox, data } = chart;
  const scale = isStrip(chart) ? devicePixelRatio / 2 : devicePixelRatio;
  const waiting = data[WAITING] ?? [];
  const max = Math.max(0, ...Array.from(waiting, (value) => value ?? 0));
  const height = WAITING_HEIGHT * scale;
  const bottom = bbox.top + bbox.height + WAITING_GAP * scale + height;
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bottom - height, bbox.width, height);
  ctx.fillStyle = color('--track')();
  ctx.fill();
  ctx.clip();
  ctx.fillStyle = color('--series-queue')();
  for (const [row, value] of waiting.entries()) {
    if (!value) continue;
    const { left, width } = barPlace(chart, data[START]?.[row] ?? 0, data[0][row] ?? 0);
    const barHeight = Math.max(devicePixelRatio, (value / max) * height);
    ctx.fillRect(left, bottom - barHeight, width, barHeight);
  }
  ctx.restore();
  if (isStrip(chart)) return;
  const text = max === 0 ? 'none waiting' : `waiting ≤ ${formatCount(max)}`;
  drawText(chart, text, { x: bbox.left + bbox.width - 4 * scale, y: bottom - height / 2, align: 'right' });
}
