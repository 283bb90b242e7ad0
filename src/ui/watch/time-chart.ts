import type uPlot from 'uplot';
import type { Axis, Scale } from 'uplot';

import { NO_VALUE } from '../format.ts';
import type { Cell, Sample, SampleFigures } from '../state/chart-history.ts';
import { color, createAxis, createLegend, GRID, READ_ONLY_CURSOR, readRows } from './chart-spec.ts';
import type { ChartLine, ChartSpec } from './chart-spec.ts';
import { watchSettings } from './watch-settings.ts';

interface TimeChartSpec extends Pick<
  ChartSpec,
  'testId' | 'title' | 'subtitle' | 'emptyText' | 'needsEngine' | 'describe'
> {
  readonly lines: readonly ChartLine<SampleFigures>[];
  readonly unit: string;
  readonly format: (value: Cell) => string;
  /** Logarithmic for latencies, which spread over decades; from 0 for all else. */
  readonly yAxis: { readonly axis: Axis; readonly scale: Scale };
}

export const LOGARITHMIC_MS: TimeChartSpec['yAxis'] = {
  axis: createAxis({
    size: 54,
    space: 24,
    grid: { ...GRID, filter: (_chart, splits) => splits.map((value) => (isDecade(value) ? value : null)) },
    values: (_chart, splits) => splits.map((value) => (isDecade(value) ? value.toLocaleString('en') : '')),
  }),
  // oxlint-disable-next-line typescript/no-unsafe-enum-assignment -- uPlot declares an enum that does not exist at run time
  scale: { distr: 3, range: (_chart, min, max) => wholeDecades(min, max) },
};

/** From 0 to the largest value with some room, or to `max` where that is fixed. */
export function fromZero(max?: number): TimeChartSpec['yAxis'] {
  return {
    axis: createAxis({
      size: 54,
      space: 28,
      values: (_chart, splits) => splits.map((value) => value.toLocaleString('en')),
    }),
    scale: { range: (_chart, _min, largest) => [0, max ?? Math.max(1, (largest ?? 0) * 1.1)] },
  };
}

/** Lines over time. All such charts show the same window, and the same moment under the pointer. */
export function timeChart({ lines, unit, format, yAxis, ...spec }: TimeChartSpec): ChartSpec {
  return {
    ...spec,
    columnNames: ['time [s]', ...lines.map(({ label }) => `${label} [${unit}]`)],
    createOptions: () => ({
      legend: createLegend(lines.map((line) => line.color)),
      cursor: READ_ONLY_CURSOR,
      scales: { x: { time: false, range: (_chart, _min, max) => visibleSeconds(max) }, y: yAxis.scale },
      axes: [
        createAxis({
          grid: { show: false },
          gap: 7,
          size: 28,
          space: 56,
          values: (_chart, splits) => splits.map(formatClock),
        }),
        yAxis.axis,
      ],
      series: [
        {
          label: 'time',
          value: (_chart, seconds: Cell) => (seconds === null ? NO_VALUE : formatClock(seconds)),
        },
        ...lines.map((line) => toSeries(line, format)),
      ],
    }),
    ...readRows({
      rowsOf: ({ samples }) => samples,
      atMsOf: ({ atMs }) => atMs,
      xOf: ({ atMs }) => atMs / 1000,
      lines: lines.map((line) => ({
        ...line,
        read: ({ figures }: Sample) => (figures ? line.read(figures) : null),
      })),
    }),
  };
}

function toSeries(line: ChartLine<SampleFigures>, format: TimeChartSpec['format']): uPlot.Series {
  return {
    label: line.label,
    value: (_chart, value: number | null) => format(value),
    stroke: color(line.color),
    width: 1.5,
    points: { show: true, size: 5, width: 0, fill: color(line.color), filter: lonelyPoints },
    ...(line.dash && { dash: line.dash }),
  };
}

/** A value between two gaps has no line, so it gets a point. */
function lonelyPoints(chart: uPlot, seriesIndex: number): number[] {
  const values = chart.data[seriesIndex] ?? [];
  const isThere = (index: number): boolean => typeof values[index] === 'number';
  return Array.from(values.keys()).filter(
    (index) => isThere(index) && !isThere(index - 1) && !isThere(index + 1),
  );
}

function visibleSeconds(last: number | null): [number, number] {
  const { windowSeconds } = watchSettings.getState();
  const end = Math.max(last ?? 0, windowSeconds);
  return [end - windowSeconds, end];
}

/** Whole decades keep the grid still while the lines move. */
function wholeDecades(min: number | null, max: number | null): [number, number] {
  if (min === null || max === null) return [1, 1000];
  const low = 10 ** Math.floor(Math.log10(min));
  return [low, Math.max(10 ** Math.ceil(Math.log10(max)), low * 10)];
}

function isDecade(value: number): boolean {
  return Number.isInteger(Math.log10(value));
}

function formatClock(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds));
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, '0')}`;
}
