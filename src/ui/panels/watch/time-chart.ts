import type { Axis, Scale } from 'uplot';

import type { Cell, SampleFigures } from '../../state/chart-history.ts';
import type { ChartHead } from './chart-head.ts';
import { color, latestBefore, lineSeries, toX, type ChartSpec } from './chart-spec.ts';
import { drawStripLabel, PADDING, timeAxis, timeScale, valueAxis } from './time-axis.ts';

interface TimeChart extends Pick<ChartSpec, 'format' | 'describe'> {
  readonly head: ChartHead;
  /** The value of each line. */
  readonly reads: readonly ((figures: SampleFigures) => Cell)[];
  readonly unit: string;
  readonly yAxis: { readonly axis: Axis; readonly scale: Scale };
}

/** From 0 to the largest value with some room, or to `max` where that is fixed. */
export function fromZero({ max, unit = '', incrs }: FromZero = {}): TimeChart['yAxis'] {
  const format = (value: number): string => value.toLocaleString('en') + unit;
  return {
    axis: valueAxis(format, { space: 28, ...(incrs && { incrs }) }),
    scale: { range: (_chart, _min, largest) => [0, max ?? Math.max(1, (largest ?? 0) * 1.1)] },
  };
}

interface FromZero {
  readonly max?: number;
  /** After each label. */
  readonly unit?: string;
  /** Between labels; any unless said otherwise. */
  readonly incrs?: number[];
}

/** Lines over time, one point for each sample of the worker's figures. */
export function timeChart({ head, reads, unit, format, yAxis, describe }: TimeChart): ChartSpec {
  return {
    head,
    format,
    describe,
    columnNames: ["time [s since the run's start]", ...head.lines.map(({ label }) => `${label} [${unit}]`)],
    valueAt: latestBefore,
    createOptions: (scene) => ({
      padding: PADDING,
      scales: { x: timeScale(scene), y: yAxis.scale },
      axes: [timeAxis(), yAxis.axis],
      series: [{}, ...head.lines.map((line) => lineSeries(color(line.color), line.dash))],
      hooks: { draw: [(chart) => drawStripLabel(chart, format(chart.scales['y']?.max ?? null))] },
    }),
    read: ({ history }, span) => {
      const samples = history.samples.filter(({ atMs }) => atMs >= span.startMs && atMs <= span.untilMs);
      return [
        samples.map(({ atMs }) => toX(atMs, span)),
        ...reads.map((read) => samples.map(({ figures }) => (figures ? read(figures) : null))),
      ];
    },
  };
}
