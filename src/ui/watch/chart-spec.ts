import type uPlot from 'uplot';
import type { Axis, Options } from 'uplot';

import type { Cell, ChartHistory } from '../state/chart-history.ts';
import type { ServeView } from '../state/serve-store.ts';
import { resolvedColor } from '../theme/resolved-color.ts';

/** One chart. Constant, so that the chart is created once. */
export interface ChartSpec {
  readonly testId: string;
  readonly title: string;
  readonly subtitle: string;
  readonly emptyText: string;
  /** It shows steps or slots, which an upstream doesn't report. */
  readonly needsEngine?: boolean;
  /** Called with the chart's creation, because uPlot is loaded with the first chart. */
  readonly createOptions: (paths: uPlot.Series.PathBuilderFactories) => Omit<Options, 'width' | 'height'>;
  /** x of the newest row; undefined where there is none. Until it changes, the chart isn't redrawn. */
  readonly newestX: (view: ServeView) => number | undefined;
  /** The columns, x first, up to a time on this tab's clock. */
  readonly read: (view: ServeView, untilSeconds?: number) => [xs: number[], ...columns: Cell[][]];
  /** Their names and units, for the export. */
  readonly columnNames: readonly string[];
  /** The lines of all columns but x, for the export. */
  readonly lineStyles: readonly LineStyle[];
  /** The current values in words, for screen readers. */
  readonly describe: (view: ServeView) => string;
  /** Time on this tab's clock -> x, and back; undefined where x is that time. */
  readonly time?: {
    readonly toX: (view: ServeView, seconds: number) => number | undefined;
    readonly toSeconds: (view: ServeView, x: number) => number | undefined;
  };
}

export interface LineStyle {
  readonly color: ChartColor;
  readonly dash?: number[];
}

/** A custom property of tokens.css. */
export type ChartColor = `--${string}`;

/** Colors are resolved at each drawing, because a canvas takes no CSS variables. A redraw follows the theme. */
export function color(name: ChartColor): () => string {
  return () => resolvedColor(name);
}

export const GRID: NonNullable<Axis['grid']> = { stroke: color('--rule'), width: 1 };

export function createAxis(axis: Axis): Axis {
  return {
    font: '11px system-ui, sans-serif',
    stroke: color('--ink-2'),
    grid: GRID,
    ticks: { show: false },
    gap: 4,
    ...axis,
  };
}

/** Legend markers are HTML, where CSS variables work. Dashed lines get hollow markers. */
export function createLegend(colors: readonly ChartColor[]): NonNullable<Options['legend']> {
  const variable = (seriesIndex: number): string => `var(${colors[seriesIndex - 1] ?? '--ink-2'})`;
  return {
    markers: {
      width: (chart, index) => (isDashed(chart, index) ? 2 : 0),
      dash: (chart, index) => ((chart.series[index]?.dash?.[0] ?? 0) > 2 ? 'solid' : 'dotted'),
      stroke: (_chart, index) => variable(index),
      fill: (chart, index) => (isDashed(chart, index) ? 'transparent' : variable(index)),
    },
  };
}

function isDashed(chart: uPlot, seriesIndex: number): boolean {
  return (chart.series[seriesIndex]?.dash ?? []).length > 0;
}

/** For reading values. There is no zoom, because a zoomed chart would lose its moving end. */
export const READ_ONLY_CURSOR: NonNullable<Options['cursor']> = {
  y: false,
  drag: { x: false, y: false, setScale: false },
  points: { show: false },
};

export interface ChartLine<Row> extends LineStyle {
  readonly label: string;
  readonly read: (row: Row) => Cell;
}

interface RowReader<Row> {
  /** Oldest first. */
  readonly rowsOf: (history: ChartHistory) => readonly Row[];
  readonly atMsOf: (row: Row) => number;
  readonly xOf: (row: Row) => number;
  readonly lines: readonly ChartLine<Row>[];
}

/** The data of a chart: a column for x and one for each line. */
export function readRows<Row>(reader: RowReader<Row>): Pick<ChartSpec, 'lineStyles' | 'newestX' | 'read'> {
  const { rowsOf, atMsOf, xOf, lines } = reader;
  return {
    lineStyles: lines,
    newestX: ({ history }) => rowsOf(history).slice(-1).map(xOf)[0],
    read: ({ history }, untilSeconds = Infinity) => {
      const rows = rowsOf(history).filter((row) => atMsOf(row) <= untilSeconds * 1000);
      return [rows.map(xOf), ...lines.map(({ read }) => rows.map(read))];
    },
  };
}
