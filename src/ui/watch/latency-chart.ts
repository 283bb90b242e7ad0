import uPlot from 'uplot';

import { formatMs } from '../format.ts';
import type { ServeView } from '../state/serve-store.ts';
import { color, createAxis, createLegend, GRID, READ_ONLY_CURSOR } from './chart-spec.ts';
import type { ChartSpec } from './chart-spec.ts';

const WINDOW_SECONDS = 60;

export const LATENCY_CHART: ChartSpec = {
  testId: 'latency-chart',
  title: 'Latency over time',
  subtitle: 'ms, logarithmic; TTFT with queue wait',
  emptyText: 'Send a prompt: time to first token and inter-token latency appear here.',
  options: {
    legend: createLegend(['--series-ttft', '--series-ttft', '--series-itl', '--series-itl']),
    cursor: READ_ONLY_CURSOR,
    scales: {
      x: { time: false, range: (_chart, _min, max) => visibleSeconds(max) },
      // oxlint-disable-next-line typescript/no-unsafe-enum-assignment -- uPlot declares an enum that does not exist at run time
      y: { distr: 3, range: (_chart, min, max) => visibleMs(min, max) },
    },
    axes: [
      createAxis({
        grid: { show: false },
        gap: 7,
        size: 28,
        space: 56,
        values: (_chart, splits) => splits.map(formatClock),
      }),
      createAxis({
        size: 54,
        space: 24,
        grid: {
          ...GRID,
          filter: (_chart, splits) => splits.map((value) => (isDecade(value) ? value : null)),
        },
        values: (_chart, splits) =>
          splits.map((value) => (isDecade(value) ? value.toLocaleString('en') : '')),
      }),
    ],
    series: [
      {
        label: 'time',
        value: (_chart, seconds: number | null) => (seconds === null ? '–' : formatClock(seconds)),
      },
      line('TTFT p50', '--series-ttft', []),
      line('TTFT p95', '--series-ttft', [4, 4]),
      line('ITL p50', '--series-itl', []),
      line('ITL p95', '--series-itl', [4, 4]),
    ],
  },
  read: ({ history }) => history.latency.read(),
  isEmpty: ({ history }) => history.latency.length === 0,
  describe: describeLatency,
};

function line(label: string, name: '--series-ttft' | '--series-itl', dash: number[]): uPlot.Series {
  return {
    label,
    value: (_chart, durationMs: number | null) => formatMs(durationMs),
    stroke: color(name),
    width: 1.5,
    dash,
    points: { show: false },
  };
}

function visibleSeconds(last: number | null): [number, number] {
  const end = Math.max(last ?? 0, WINDOW_SECONDS);
  return [end - WINDOW_SECONDS, end];
}

/** Whole decades, so that the grid stays put while the lines move. */
function visibleMs(min: number | null, max: number | null): [number, number] {
  if (min === null || max === null) return [1, 1000];
  const low = 10 ** Math.floor(Math.log10(min));
  return [low, Math.max(10 ** Math.ceil(Math.log10(max)), low * 10)];
}

function isDecade(value: number): boolean {
  return Number.isInteger(Math.log10(value));
}

/** Minutes and seconds since the page was opened. */
function formatClock(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds));
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, '0')}`;
}

function describeLatency({ figures }: ServeView): string {
  if (!figures || figures.ttftMs.count === 0) return 'no token yet';
  const { ttftMs, itlMs } = figures;
  return (
    `time to first token p50 ${formatMs(ttftMs.p50)}, p95 ${formatMs(ttftMs.p95)}; ` +
    `inter-token latency p50 ${formatMs(itlMs.p50)}, p95 ${formatMs(itlMs.p95)}`
  );
}
