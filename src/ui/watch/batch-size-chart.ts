import type uPlot from 'uplot';

import { formatCount, NO_VALUE } from '../format.ts';
import { readUntil } from '../state/ring-columns.ts';
import type { ServeView } from '../state/serve-store.ts';
import { color, createAxis, createLegend, READ_ONLY_CURSOR } from './chart-spec.ts';
import type { ChartSpec } from './chart-spec.ts';

/** Wide enough to see single steps, narrow enough to show a minute of them. */
const PIXELS_PER_STEP = 5;
/** A batch of one should look small. */
const MIN_BATCH_RANGE = 4;

const COLORS = ['--series-decode', '--series-prefill', '--series-queue'] as const;

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
  lineStyles: COLORS.map((name) => ({ color: name })),
  createOptions: (paths) => ({
    legend: createLegend(COLORS),
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
    series: [
      { label: 'step', value: formatCell },
      { label: 'decode', value: formatCell, ...bars('--series-decode', paths) },
      { label: 'prefill', value: formatCell, ...bars('--series-prefill', paths) },
      {
        label: 'waiting (right)',
        scale: 'waiting',
        value: formatCell,
        stroke: color('--series-queue'),
        width: 1.5,
        points: { show: false },
        ...(paths.stepped && { paths: paths.stepped({ align: 1 }) }),
      },
    ],
  }),
  revision: ({ history }) => history.steps.numPushed,
  read: ({ history }, untilSeconds) =>
    readUntil(history.steps, ['stepIndex', 'decode', 'prefill', 'waiting'], untilSeconds),
  isEmpty: ({ history }) => history.steps.length === 0,
  describe: ({ figures }) =>
    figures
      ? `last step ${figures.lastBatchSize} sequences, ${figures.numRunning} running, ${figures.numWaiting} waiting`
      : 'no step yet',
  time: { toX: stepAt, toSeconds: secondsOf },
};

/** The first step that ended at or after this time. */
function stepAt({ history }: ServeView, seconds: number): number | undefined {
  const [steps = [], ends = []] = history.steps.read(['stepIndex', 'seconds']);
  return steps[ends.findIndex((end) => end !== null && end >= seconds)] ?? undefined;
}

function secondsOf({ history }: ServeView, step: number): number | undefined {
  const [steps = [], ends = []] = history.steps.read(['stepIndex', 'seconds']);
  return ends[steps.indexOf(Math.round(step))] ?? undefined;
}

function bars(
  name: '--series-decode' | '--series-prefill',
  paths: uPlot.Series.PathBuilderFactories,
): Partial<uPlot.Series> {
  return {
    fill: color(name),
    width: 0,
    points: { show: false },
    ...(paths.bars && { paths: paths.bars({ size: [1, 12], gap: 1 }) }),
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
