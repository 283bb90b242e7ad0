import { formatCount, formatMs, formatNumber, NO_VALUE } from '../../parts/format.ts';
import type { Cell, SampleFigures } from '../../state/chart-history.ts';
import type { Spread } from '../../state/run-summary.ts';
import { type ChartSpec, color, latestBefore, lineSeries, toX } from './chart-spec.ts';
import { LOGARITHMIC_MS } from './logarithmic-ms.ts';
import { TOKENS_HEAD, SERVER_LATENCY_HEAD } from './main-chart-heads.ts';
import type { Axis, Scale } from 'uplot';
import type { ChartHead } from './chart-head.ts';
import { drawStripLabel, PADDING, timeAxis, timeScale, valueAxis } from './time-axis.ts';

const DASHED = [5, 4];
const DOTTED = [2, 3];
const EMPTY_TEXT = 'Run 9 prompts to see it here.';

const LATENCIES = [
  ['ttftMs', 'ttft-chart', 'Time to first token', 'queue wait included', '--series-ttft'],
  ['itlMs', 'itl-chart', 'Inter-token latency', 'from one token to the next', '--series-itl'],
  ['queueWaitMs', 'queue-wait-chart', 'Queue wait', 'until a slot was free', '--series-queue'],
  ['e2eMs', 'e2e-chart', 'End-to-end latency', 'from arrival to the last token', '--series-e2e'],
] as const;

const TOKENS_CHART = timeChart({
  head: TOKENS_HEAD,
  reads: [(figures) => figures.tokensOutPerSecond, (figures) => figures.tokensInPerSecond],
  unit: 'tokens/s',
  format: (value) => `${formatNumber(value)}/s`,
  yAxis: fromZero(),
  describe: ({ figures }) =>
    figures ? `${formatNumber(figures.tokensPerSecond)} output tokens per second` : 'no token yet',
});

/** In place of the main latency chart, where no steps are known. */
export const SERVER_LATENCY_CHART = timeChart({
  head: SERVER_LATENCY_HEAD,
  reads: [
    ({ itlMs }) => valueOf(itlMs, 'p50'),
    ({ itlMs }) => valueOf(itlMs, 'p95'),
    ({ ttftMs }) => valueOf(ttftMs, 'p50'),
    ({ ttftMs }) => valueOf(ttftMs, 'p95'),
  ],
  unit: 'ms',
  format: formatMs,
  yAxis: LOGARITHMIC_MS,
  describe: ({ figures }) =>
    figures?.ttftMs.count ? `time to first token ${describeSpread(figures.ttftMs)}` : 'no token yet',
});

export const TIME_CHARTS: readonly ChartSpec[] = [
  TOKENS_CHART,
  ...LATENCIES.map(latencyChart),
  timeChart({
    head: {
      testId: 'utilization-chart',
      title: 'Batch utilization',
      subtitle: 'share of max batch size',
      emptyText: EMPTY_TEXT,
      needsEngine: true,
      lines: [{ label: 'decode steps', color: '--series-decode' }],
    },
    reads: [(figures) => figures.utilization],
    unit: '%',
    format: (value) => (value === null ? NO_VALUE : `${value.toFixed(0)} %`),
    yAxis: fromZero({ max: 100, unit: ' %' }),
    describe: ({ history }) => {
      const utilization = history.samples.at(-1)?.figures?.utilization ?? null;
      return utilization === null ? 'no decode step yet' : `batch ${utilization.toFixed(0)} % full`;
    },
  }),
  timeChart({
    head: {
      testId: 'kv-cache-chart',
      title: 'K/V memory',
      subtitle: 'keys and values, MiB',
      emptyText: EMPTY_TEXT,
      needsEngine: true,
      lines: [
        { label: 'used', color: '--series-decode' },
        { label: 'reserved', color: '--series-prefill', dash: DASHED },
      ],
    },
    reads: [
      ({ kvCache }) => toMebibytes(kvCache.usedBytes),
      ({ kvCache }) => toMebibytes(kvCache.reservedBytes),
    ],
    unit: 'MiB',
    format: formatMebibytes,
    yAxis: fromZero(),
    describe: ({ history }) => {
      const kvCache = history.samples.at(-1)?.figures?.kvCache;
      if (!kvCache) return 'nothing reserved yet';
      const [used, reserved] = [kvCache.usedBytes, kvCache.reservedBytes]
        .map(toMebibytes)
        .map(formatMebibytes);
      return `${used} used of ${reserved}`;
    },
  }),
  timeChart({
    head: {
      testId: 'finish-chart',
      title: 'Finish reasons',
      subtitle: 'sequences',
      emptyText: EMPTY_TEXT,
      lines: [
        { label: 'stop', color: '--good' },
        { label: 'length', color: '--series-decode', dash: DASHED },
        { label: 'abort', color: '--series-prefill', dash: DOTTED },
        { label: 'error', color: '--bad' },
        { label: 'rejected', color: '--bad', dash: DASHED },
      ],
    },
    reads: [
      ({ stop }) => stop,
      ({ length }) => length,
      ({ abort }) => abort,
      ({ error }) => error,
      ({ totals }) => totals.rejected,
    ],
    unit: 'sequences',
    format: (value) => (value === null ? NO_VALUE : formatCount(value)),
    yAxis: fromZero({ incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 10_000] }),
    describe: ({ figures }) => {
      if (!figures) return 'nothing has ended yet';
      const { stop, length, abort, error } = figures.finishReasons;
      return `${stop} stop, ${length} length, ${abort} abort, ${error} error, ${figures.totals.rejected} rejected`;
    },
  }),
];

/** p50, p95 and p99 of one latency: one color, three strokes. */
function latencyChart([latency, testId, title, subtitle, tint]: (typeof LATENCIES)[number]): ChartSpec {
  return timeChart({
    head: {
      testId,
      title,
      subtitle,
      emptyText: EMPTY_TEXT,
      lines: [
        { label: 'p50', color: tint },
        { label: 'p95', color: tint, dash: DASHED },
        { label: 'p99', color: tint, dash: DOTTED },
      ],
    },
    reads: [
      (figures) => valueOf(figures[latency], 'p50'),
      (figures) => valueOf(figures[latency], 'p95'),
      (figures) => valueOf(figures[latency], 'p99'),
    ],
    unit: 'ms',
    format: formatMs,
    yAxis: LOGARITHMIC_MS,
    describe: ({ history }) => {
      const spread = history.samples.at(-1)?.figures?.[latency];
      return spread ? `${title.toLowerCase()} ${describeSpread(spread)}` : `no ${title.toLowerCase()} yet`;
    },
  });
}

function describeSpread({ p50, p95, p99 }: Spread): string {
  return `p50 ${formatMs(p50)}, p95 ${formatMs(p95)}, p99 ${formatMs(p99)}`;
}

/** Zero has no place on a logarithmic axis. */
function valueOf(spread: Spread | undefined, percentile: keyof Spread): Cell {
  return spread?.[percentile] || null;
}

function toMebibytes(numBytes: number): number {
  return numBytes / 2 ** 20;
}

function formatMebibytes(value: number | null): string {
  return value === null ? NO_VALUE : `${value.toFixed(1)} MiB`;
}

interface TimeChart extends Pick<ChartSpec, 'format' | 'describe'> {
  readonly head: ChartHead;
  /** The value of each line. */
  readonly reads: readonly ((figures: SampleFigures) => Cell)[];
  readonly unit: string;
  readonly yAxis: { readonly axis: Axis; readonly scale: Scale };
}

/** From 0 to the largest value with some room, or to `max` where that is fixed. */
function fromZero({ max, unit = '', incrs }: FromZero = {}): TimeChart['yAxis'] {
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
function timeChart({ head, reads, unit, format, yAxis, describe }: TimeChart): ChartSpec {
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
