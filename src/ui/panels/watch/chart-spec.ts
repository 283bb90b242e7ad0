import type uPlot from 'uplot';
import type { Axis, Options } from 'uplot';

import type { Cell } from '../../state/chart-history.ts';
import type { RecordedView } from '../../state/serve-store.ts';
import type { TimeSpan } from './time-span.ts';
import { resolvedColor } from '../../drawing/resolved-color.ts';
import { observeSize } from '../../browser/observe.ts';
import { onThemeChange } from '../../browser/theme.ts';
import type { ChartColor, ChartHead } from './chart-head.ts';

/** How a chart is read and drawn. Loaded with uPlot, after the page. */
export interface ChartSpec {
  readonly head: ChartHead;
  readonly createOptions: (scene: () => Scene) => Omit<Options, 'width' | 'height' | 'legend' | 'cursor'>;
  /** Without a number of pixels, no row is merged with others. */
  readonly read: (view: RecordedView, span: TimeSpan, numPixels?: number) => ChartColumns;
  /** Names and units of all columns, for the export. */
  readonly columnNames: readonly string[];
  readonly format: (value: Cell) => string;
  /** The value of a line at a time, or the newest one. */
  readonly valueAt: (columns: ChartColumns, line: number, x: number | undefined) => Cell;
  /** The value of a line for the whole run, shown once it is over; left out, the newest one stays. */
  readonly valueOfRun?: (columns: ChartColumns, line: number, view: RecordedView) => Cell;
  /** The current values in words, for screen readers. */
  readonly describe: (view: RecordedView) => string;
  /** It stands above the slots, which have the times, and is drawn with them in one frame. */
  readonly isAboveSlots?: boolean;
  /** The pointer highlights the requests of the step below it. */
  readonly highlightsRequests?: boolean;
  /** Shows which requests are highlighted. */
  readonly showsHighlights?: boolean;
}

/** x in seconds since the start of the run, oldest first, then each line; further columns are drawn in other ways. */
export type ChartColumns = [xs: number[], ...columns: Column[]];

/** `null` breaks a line; undefined is a row of other lines. */
export type Column = (Cell | undefined)[];

/** The data that a chart shows now. */
export interface Scene {
  readonly view: RecordedView;
  readonly span: TimeSpan;
  readonly columns: ChartColumns;
}

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

/** For reading values. A drag is `followDrag`'s, so that all charts show its time. */
export const READ_ONLY_CURSOR: NonNullable<Options['cursor']> = {
  y: false,
  drag: { x: false, y: false, setScale: false },
  points: { show: false },
};

/** The time, on this tab's clock, as x. */
export function toX(atMs: number, { originMs }: TimeSpan): number {
  return (atMs - originMs) / 1000;
}

/** For values that belong to the time before them, as steps do: the first that ends no earlier. */
export function endingAtOrAfter(columns: ChartColumns, line: number, x: number | undefined): Cell {
  if (x === undefined) return newest(columns, line);
  const values = columns[line + 1] ?? [];
  const row = columns[0].findIndex((end, index) => end >= x && values[index] !== undefined);
  return values[row] ?? null;
}

/** For values that hold until the next one. */
export function latestBefore(columns: ChartColumns, line: number, x: number | undefined): Cell {
  if (x === undefined) return newest(columns, line);
  const values = columns[line + 1] ?? [];
  const row = columns[0].findLastIndex((at, index) => at <= x && values[index] !== undefined);
  return values[row] ?? null;
}

function newest(columns: ChartColumns, line: number): Cell {
  return columns[line + 1]?.findLast((value) => typeof value === 'number') ?? null;
}

/** A line, with a point for each value that has no neighbor. */
export function lineSeries(stroke: () => string, dash?: number[]): uPlot.Series {
  return {
    stroke,
    width: 1.5,
    points: { show: true, size: 5, width: 0, fill: stroke, filter: lonelyPoints },
    ...(dash && { dash }),
  };
}

function lonelyPoints(chart: uPlot, seriesIndex: number): number[] {
  const values = chart.data[seriesIndex] ?? [];
  const isThere = (index: number): boolean => typeof values[index] === 'number';
  const found: number[] = [];
  let [before, here] = [-1, -1];
  // Rows of other lines lie between neighbors.
  const flush = (): void => {
    if (here >= 0 && before < 0) found.push(here);
  };
  for (let index = 0; index < values.length; index += 1) {
    if (isThere(index)) {
      if (here >= 0) before = here;
      here = index;
    } else if (values[index] === null) {
      flush();
      [before, here] = [-1, -1];
    }
  }
  flush();
  return found;
}

/** Keeps a chart as wide as its host, and in the colors of the theme. Returns what ends it. */
export function keepChart(chart: uPlot, host: HTMLElement, height: number): () => void {
  const stopResizing = observeSize(host, () => chart.setSize({ width: host.clientWidth, height }));
  const stopFollowingTheme = onThemeChange(() => chart.redraw(false));
  return () => {
    stopResizing();
    stopFollowingTheme();
    chart.destroy();
  };
}
