import type uPlot from 'uplot';

import { formatCount, NO_VALUE } from '../format.ts';
import type { ChartHistory } from '../state/chart-history.ts';
import type { TracedStep } from '../state/slot-history.ts';
import { color, createAxis, createLegend, READ_ONLY_CURSOR, readRows } from './chart-spec.ts';
import type { ChartLine, ChartSpec } from './chart-spec.ts';

const MAX_STEPS = 600;

/** Wide enough to see single steps, narrow enough to show a minute of them. */
const PIXELS_PER_STEP = 5;
const MIN_BATCH_RANGE = 4;

const LINES: readonly ChartLine<TracedStep>[] = [
  {
    label: 'decode',
    color: '--series-decode',
    read: ({ kind, batchSize }) => (kind === 'decode' ? batchSize : null),
  },
  {
    label: 'prefill',
    color: '--series-prefill',
    read: ({ kind, batchSize }) => (kind === 'prefill' ? batchSize : null),
  },
  { label: 'waiting (right)', color: '--series-queue', read: ({ queueLength }) => queueLength },
];

export const BATCH_SIZE_CHART: ChartSpec = {
  testId: 'batch-size-chart',
  title: 'Batch size per step',
  subtitle: 'sequences in each forward pass',
  emptyText: 'Send a prompt: every step of the model draws one bar.',
  needsEngine: true,
  columnNames: [
    'step',
    'decode batch size [sequences]',
    'prefill batch size [sequences]',
    'waiting [requests]',
  ],
  createOptions: (paths) => ({
    legend: createLegend(LINES.map((line) => line.color)),
    cursor: READ_ONLY_CURSOR,
    scales: {
      x: { time: false, range: (chart, _min, max) => visibleSteps(chart, max) },
      y: { range: (_chart, _min, max) => withHeadroom(max) },
      waiting: { range: (_chart, _min, max) => withHeadroom(max) },
    },
    axes: [
      createAxis({
        grid: { show: false },
        gap: 7,
        size: 28,
        incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000],
      }),
      createAxis({ size: 30, incrs: [1, 2, 4, 8, 16, 32, 64], space: 24 }),
      createAxis({
        scale: 'waiting',
        // oxlint-disable-next-line typescript/no-unsafe-enum-assignment -- uPlot declares an enum that does not exist at run time
        side: 1,
        size: 36,
        grid: { show: false },
        incrs: [1, 2, 5, 10, 50, 100, 500],
        space: 24,
      }),
    ],
    series: [{ label: 'step', value: formatCell }, ...LINES.map((line) => toSeries(line, paths))],
  }),
  ...readRows({
    rowsOf: recentSteps,
    atMsOf: ({ endedAtMs }) => endedAtMs,
    xOf: ({ serialIndex }) => serialIndex,
    lines: LINES,
  }),
  describe: ({ figures }) =>
    figures
      ? `last step ${figures.lastBatchSize} sequences, ${figures.numRunning} running, ${figures.numWaiting} waiting`
      : 'no step yet',
  time: {
    // The first step that ended at or after this time.
    toX: ({ history }, seconds) =>
      recentSteps(history).find(({ endedAtMs }) => endedAtMs >= seconds * 1000)?.serialIndex,
    toSeconds: ({ history }, x) => {
      const step = recentSteps(history).find(({ serialIndex }) => serialIndex === Math.round(x));
      return step && step.endedAtMs / 1000;
    },
  },
};

function recentSteps({ slots }: ChartHistory): readonly TracedStep[] {
  return slots.steps.slice(-MAX_STEPS);
}

/** Batches are bars; the queue is a line on an axis of its own. */
function toSeries(
  { label, color: name }: ChartLine<TracedStep>,
  factories: uPlot.Series.PathBuilderFactories,
): uPlot.Series {
  const isQueue = name === '--series-queue';
  const paths = isQueue ? factories.stepped?.({ align: 1 }) : factories.bars?.({ size: [1, 12], gap: 1 });
  return {
    label,
    value: formatCell,
    points: { show: false },
    ...(isQueue ? { scale: 'waiting', stroke: color(name), width: 1.5 } : { fill: color(name), width: 0 }),
    ...(paths && { paths }),
  };
}

function withHeadroom(max: number | null): [number, number] {
  return [0, Math.max(MIN_BATCH_RANGE, max ?? 0) * 1.1];
}

/** The last steps that fit; a few steps start at the left. */
function visibleSteps(chart: uPlot, lastStep: number | null): [number, number] {
  const numVisible = Math.max(20, Math.floor(chart.width / PIXELS_PER_STEP));
  const last = Math.max(lastStep ?? 0, numVisible - 1);
  return [last - numVisible + 0.5, last + 0.5];
}

function formatCell(_chart: uPlot, value: number | null): string {
  return value === null ? NO_VALUE : formatCount(value);
}
