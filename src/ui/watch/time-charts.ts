import { formatCount, formatMs, formatNumber, NO_VALUE } from '../format.ts';
import type { Cell } from '../state/chart-history.ts';
import type { ChartSpec } from './chart-spec.ts';
import { fromZero, LOGARITHMIC_MS, timeChart } from './time-chart.ts';

const DASHED = [5, 4];
const DOTTED = [2, 3];

const LATENCIES = [
  ['ttftMs', 'ttft-chart', 'Time to first token', 'queue wait included', '--series-ttft'],
  ['itlMs', 'itl-chart', 'Inter-token latency', 'from one token to the next', '--series-itl'],
  ['queueWaitMs', 'queue-wait-chart', 'Queue wait', 'until a slot was free', '--series-queue'],
  ['e2eMs', 'e2e-chart', 'End-to-end latency', 'from arrival to the last token', '--series-e2e'],
] as const;

export const TIME_CHARTS: readonly ChartSpec[] = [
  timeChart({
    testId: 'tokens-chart',
    title: 'Tokens per second',
    subtitle: 'of all requests together',
    emptyText: 'Send a prompt: its tokens are counted here.',
    lines: [
      { label: 'out', read: (figures) => figures.tokensOutPerSecond, color: '--series-decode' },
      {
        label: 'in (prompts)',
        read: (figures) => figures.tokensInPerSecond,
        color: '--series-prefill',
        dash: DASHED,
      },
    ],
    unit: 'tokens/s',
    format: (value) => `${formatNumber(value)}/s`,
    yAxis: fromZero(),
    describe: ({ figures }) =>
      figures ? `${formatNumber(figures.tokensPerSecond)} output tokens per second` : 'no token yet',
  }),
  ...LATENCIES.map(latencyChart),
  timeChart({
    testId: 'utilization-chart',
    title: 'Batch utilisation',
    subtitle: 'of max batch size, weighed by time',
    emptyText: 'Send a prompt: how full its batch is appears here.',
    needsEngine: true,
    lines: [{ label: 'decode steps', read: (figures) => figures.utilization, color: '--series-decode' }],
    unit: '%',
    format: (value) => (value === null ? NO_VALUE : `${value.toFixed(0)} %`),
    yAxis: fromZero(100),
    describe: ({ history }) => {
      const utilization = history.samples.at(-1)?.figures?.utilization ?? null;
      return utilization === null ? 'no decode step yet' : `batch ${utilization.toFixed(0)} % full`;
    },
  }),
  timeChart({
    testId: 'kv-cache-chart',
    title: 'K/V memory',
    subtitle: 'keys and values of what runs, and what is reserved',
    emptyText: 'Send a prompt: the memory of its keys and values appears here.',
    needsEngine: true,
    lines: [
      { label: 'used', read: ({ kvCache }) => toMebibytes(kvCache.usedBytes), color: '--series-decode' },
      {
        label: 'reserved',
        read: ({ kvCache }) => toMebibytes(kvCache.reservedBytes),
        color: '--series-prefill',
        dash: DASHED,
      },
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
    testId: 'finish-chart',
    title: 'Finish reasons',
    subtitle: 'sequences ended, and requests refused',
    emptyText: 'Send a prompt: how it ends is counted here.',
    lines: [
      { label: 'stop', read: ({ stop }) => stop, color: '--good' },
      { label: 'length', read: ({ length }) => length, color: '--series-decode', dash: DASHED },
      { label: 'abort', read: ({ abort }) => abort, color: '--series-prefill', dash: DOTTED },
      { label: 'error', read: ({ error }) => error, color: '--bad' },
      { label: 'rejected', read: ({ totals }) => totals.rejected, color: '--bad', dash: DASHED },
    ],
    unit: 'sequences',
    format: (value) => (value === null ? NO_VALUE : formatCount(value)),
    yAxis: fromZero(),
    describe: ({ figures }) => {
      if (!figures) return 'nothing has ended yet';
      const { stop, length, abort, error } = figures.finishReasons;
      return `${stop} stop, ${length} length, ${abort} abort, ${error} error, ${figures.totals.rejected} rejected`;
    },
  }),
];

/** p50, p95 and p99 of one latency: one color, three strokes. */
function latencyChart([latency, testId, title, subtitle, color]: (typeof LATENCIES)[number]): ChartSpec {
  return timeChart({
    testId,
    title,
    subtitle: `${subtitle}, logarithmic`,
    emptyText: 'Send a prompt: its latency appears here.',
    lines: [
      { label: 'p50', read: (figures) => aboveZero(figures[latency].p50), color },
      { label: 'p95', read: (figures) => aboveZero(figures[latency].p95), color, dash: DASHED },
      { label: 'p99', read: (figures) => aboveZero(figures[latency].p99), color, dash: DOTTED },
    ],
    unit: 'ms',
    format: formatMs,
    yAxis: LOGARITHMIC_MS,
    describe: ({ figures }) => {
      const name = title.toLowerCase();
      if (!figures?.[latency].count) return `no ${name} yet`;
      const { p50, p95, p99 } = figures[latency];
      return `${name} p50 ${formatMs(p50)}, p95 ${formatMs(p95)}, p99 ${formatMs(p99)}`;
    },
  });
}

/** Zero means no sample, and has no place on a logarithmic axis. */
function aboveZero(value: number): Cell {
  return value > 0 ? value : null;
}

function toMebibytes(numBytes: number): number {
  return numBytes / 2 ** 20;
}

function formatMebibytes(value: number | null): string {
  return value === null ? NO_VALUE : `${value.toFixed(1)} MiB`;
}
