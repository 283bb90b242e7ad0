import type uPlot from 'uplot';
import type { AlignedData, Axis, Options } from 'uplot';

import type { Cell } from '../state/ring-columns.ts';
import type { ServeView } from '../state/serve-store.ts';

/** Everything that makes one chart: fixed at start-up, so that a chart is created once. */
export interface ChartSpec {
  readonly testId: string;
  readonly title: string;
  readonly subtitle: string;
  readonly emptyText: string;
  readonly options: Omit<Options, 'width' | 'height'>;
  /** The columns, x first. */
  readonly read: (view: ServeView) => Cell[][];
  readonly isEmpty: (view: ServeView) => boolean;
  /** The current values in words, for those who do not see the chart. */
  readonly describe: (view: ServeView) => string;
}

type Color =
  | '--ink-2'
  | '--rule'
  | '--series-decode'
  | '--series-prefill'
  | '--series-queue'
  | '--series-ttft'
  | '--series-itl';

/**
 * A canvas takes no CSS variables, so colours are read at each drawing: a redraw alone follows the scheme.
 * Registered as `<color>` in tokens.css, else `light-dark(…)` would come back unresolved.
 */
export function color(name: Color): () => string {
  return () => getComputedStyle(document.documentElement).getPropertyValue(name);
}

export const GRID: NonNullable<Axis['grid']> = { stroke: color('--rule'), width: 1 };

const AXIS_FONT = '11px system-ui, sans-serif';

export function createAxis(axis: Axis): Axis {
  return {
    font: AXIS_FONT,
    stroke: color('--ink-2'),
    grid: GRID,
    ticks: { show: false },
    gap: 4,
    ...axis,
  };
}

/** Legend markers are HTML: there a variable works, and follows the scheme by itself. Dashed lines get hollow ones. */
export function createLegend(colors: readonly Color[]): NonNullable<Options['legend']> {
  const variable = (seriesIndex: number): string => `var(${colors[seriesIndex - 1] ?? '--ink-2'})`;
  return {
    markers: {
      width: (chart, index) => (isDashed(chart, index) ? 2 : 0),
      dash: 'solid',
      stroke: (_chart, index) => variable(index),
      fill: (chart, index) => (isDashed(chart, index) ? 'transparent' : variable(index)),
    },
  };
}

function isDashed(chart: uPlot, seriesIndex: number): boolean {
  return (chart.series[seriesIndex]?.dash ?? []).length > 0;
}

/** Reading values only: zooming a chart that moves would lose its end. */
export const READ_ONLY_CURSOR: NonNullable<Options['cursor']> = {
  y: false,
  drag: { x: false, y: false, setScale: false },
  points: { show: false },
};

/** uPlot's type asks for at least two columns; a spec has them by construction. */
export function toAlignedData(columns: Cell[][]): AlignedData {
  const [xs = [], ...rest] = columns;
  return [xs.map((x) => x ?? 0), ...rest] as AlignedData;
}
