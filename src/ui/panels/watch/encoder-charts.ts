import { EMBEDDER, percentilesOf } from '../../../client/index.ts';
import { countOf, formatCount, formatMs, formatShare, NO_VALUE } from '../../parts/format.ts';
import type { Cell } from '../../state/chart-history.ts';
import type { RecordedView } from '../../state/serve-store.ts';
import { batchSeries, drawWaiting, WAITING_ROOM } from './batch-size-chart.ts';
import { color, endingAtOrAfter, lineSeries, type ChartColumns, type ChartSpec } from './chart-spec.ts';
import { BATCH_LATENCY_HEAD, BATCH_TOKENS_HEAD } from './encoder-chart-heads.ts';
import { encoderRunOf, summarizeEncoderRun, type EncoderBatch } from './encoder-run.ts';
import { LOGARITHMIC_MS } from './logarithmic-ms.ts';
import { PADDING, timeAxis, timeScale, valueAxis } from './time-axis.ts';

const END = "end of the batch [s since the run's start]";
const HEADROOM = 1.1;
/** The scale before the first batch, in tokens. */
const MIN_RANGE = 64;

const BATCH_TOKENS_CHART: ChartSpec = {
  head: BATCH_TOKENS_HEAD,
  columnNames: [
    END,
    'useful [tokens]',
    'padding [tokens]',
    'waiting [texts]',
    "start of the batch [s since the run's start]",
  ],
  createOptions: (scene) => ({
    padding: PADDING,
    scales: {
      x: timeScale(scene),
      y: { range: () => [0, highestOf(scene().columns) * HEADROOM] },
    },
    axes: [timeAxis(WAITING_ROOM), valueAxis(formatCount)],
    series: [{}, batchSeries('--series-decode'), batchSeries('--series-prefill', 1)],
    hooks: { draw: [drawWaiting] },
  }),
  read: (view) =>
    columnsOf(view, [
      ({ numUseful }) => numUseful,
      ({ numPadding }) => numPadding,
      ({ queueLength }) => queueLength,
      ({ startedMs }) => startedMs / 1000,
    ]),
  format: (value) => (value === null ? NO_VALUE : formatCount(value)),
  valueAt: endingAtOrAfter,
  valueOfRun: (columns, line) => valuesOf(columns, line).toSorted((a, b) => b - a)[0] ?? null,
  describe: (view) => {
    const summary = summarizeEncoderRun(encoderRunOf(view, EMBEDDER));
    if (!summary) return 'no batch yet';
    return `${countOf(summary.numBatches, 'batch', 'batches')}, ${formatShare(summary.paddingShare)} padding`;
  },
};

const BATCH_LATENCY_CHART: ChartSpec = {
  head: BATCH_LATENCY_HEAD,
  columnNames: [END, 'time of the batch [ms]', 'longest wait before it [ms]'],
  createOptions: (scene) => ({
    padding: PADDING,
    scales: { x: timeScale(scene), y: LOGARITHMIC_MS.scale },
    axes: [timeAxis(), LOGARITHMIC_MS.axis],
    series: [{}, lineSeries(color('--series-itl')), lineSeries(color('--series-queue'), [5, 4])],
  }),
  read: (view) =>
    columnsOf(view, [
      // Zero has no place on a logarithmic axis.
      ({ executionMs }) => executionMs || null,
      ({ waitMs }) => waitMs || null,
    ]),
  format: formatMs,
  valueAt: endingAtOrAfter,
  valueOfRun: (columns, line) => percentilesOf(valuesOf(columns, line))?.p50 ?? null,
  describe: (view) => {
    const { executionMs } = summarizeEncoderRun(encoderRunOf(view, EMBEDDER)) ?? {};
    return executionMs
      ? `a batch takes ${formatMs(executionMs.p50)}, p95 ${formatMs(executionMs.p95)}`
      : 'no batch yet';
  },
};

export const ENCODER_CHARTS: readonly ChartSpec[] = [BATCH_TOKENS_CHART, BATCH_LATENCY_CHART];

function columnsOf(view: RecordedView, reads: readonly ((batch: EncoderBatch) => Cell)[]): ChartColumns {
  const run = encoderRunOf(view, EMBEDDER);
  return [run.map(({ endedMs }) => endedMs / 1000), ...reads.map((read) => run.map(read))];
}

function valuesOf(columns: ChartColumns, line: number): readonly number[] {
  return (columns[line + 1] ?? []).filter((value) => typeof value === 'number');
}

/** The largest bar, its padding included. */
function highestOf([ends, useful = [], padding = []]: ChartColumns): number {
  return ends.reduce((most, _, row) => Math.max(most, (useful[row] ?? 0) + (padding[row] ?? 0)), MIN_RANGE);
}
