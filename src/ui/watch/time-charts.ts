import type { ServeStats } from '../../worker/protocol/stats.ts';
import { formatCount, formatMs, formatNumber, NO_VALUE } from '../format.ts';
import type { ChartColor, ChartSpec } from './chart-spec.ts';
import { fromZero, LOGARITHMIC_MS, timeChart } from './time-chart.ts';

export const TIME_CHARTS: readonly ChartSpec[] = [
  timeChart({
    testId: 'tokens-chart',
    title: 'Tokens per second',
    subtitle: 'of all requests together',
    emptyText: 'Send a prompt: its tokens are counted here.',
    lines: [
      { label: 'out', column: 'tokensOutPerSecond', color: '--series-decode' },
      { label: 'in (prompts)', column: 'tokensInPerSecond', color: '--series-prefill', dash: [5, 4] },
    ],
    unit: 'tokens/s',
    format: (value) => `${formatNumber(value)}/s`,
    yAxis: fromZero(),
    describe: ({ figures }) =>
      figures ? `${formatNumber(figures.tokensPerSecond)} output tokens per second` : 'no token yet',
  }),
  latencyChart({
    testId: 'ttft-chart',
    title: 'Time to first token',
    subtitle: 'queue wait included',
    latency: 'ttft',
    color: '--series-ttft',
  }),
  latencyChart({
    testId: 'itl-chart',
    title: 'Inter-token latency',
    subtitle: 'from one token to the next',
    latency: 'itl',
    color: '--series-itl',
  }),
  latencyChart({
    testId: 'queue-wait-chart',
    title: 'Queue wait',
    subtitle: 'until a slot was free',
    latency: 'queueWait',
    color: '--series-queue',
  }),
  latencyChart({
    testId: 'e2e-chart',
    title: 'End-to-end latency',
    subtitle: 'from arrival to the last token',
    latency: 'e2e',
    color: '--series-e2e',
  }),
  timeChart({
    testId: 'utilization-chart',
    title: 'Batch utilisation',
    subtitle: 'of max batch size, weighed by time',
    emptyText: 'Send a prompt: how full its batch is appears here.',
    needsEngine: true,
    lines: [{ label: 'decode steps', column: 'utilization', color: '--series-decode' }],
    unit: '%',
    format: (value) => (value === null ? NO_VALUE : `${value.toFixed(0)} %`),
    yAxis: fromZero(100),
    describe: ({ history }) => {
      const utilization = history.samples.last('utilization');
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
      { label: 'used', column: 'kvUsed', color: '--series-decode' },
      { label: 'reserved', column: 'kvReserved', color: '--series-prefill', dash: [5, 4] },
    ],
    unit: 'MiB',
    format: formatMebibytes,
    yAxis: fromZero(),
    describe: ({ history }) => {
      const [used, reserved] = [history.samples.last('kvUsed'), history.samples.last('kvReserved')];
      return used === null || reserved === null
        ? 'nothing reserved yet'
        : `${formatMebibytes(used)} used of ${formatMebibytes(reserved)}`;
    },
  }),
  timeChart({
    testId: 'finish-chart',
    title: 'Finish reasons',
    subtitle: 'sequences ended, and requests refused',
    emptyText: 'Send a prompt: how it ends is counted here.',
    lines: [
      { label: 'stop', column: 'stop', color: '--good' },
      { label: 'length', column: 'length', color: '--series-decode', dash: [5, 4] },
      { label: 'abort', column: 'abort', color: '--series-prefill', dash: [2, 3] },
      { label: 'error', column: 'error', color: '--bad' },
      { label: 'rejected', column: 'rejected', color: '--bad', dash: [5, 4] },
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

interface LatencySpec extends Pick<ChartSpec, 'testId' | 'title' | 'subtitle'> {
  readonly latency: 'ttft' | 'itl' | 'queueWait' | 'e2e';
  readonly color: ChartColor;
}

/** p50, p95 and p99 of one latency: one color, three strokes. */
function latencyChart({ testId, title, subtitle, latency, color }: LatencySpec): ChartSpec {
  return timeChart({
    testId,
    title,
    subtitle: `${subtitle}, logarithmic`,
    emptyText: 'Send a prompt: its latency appears here.',
    lines: [
      { label: 'p50', column: `${latency}P50`, color },
      { label: 'p95', column: `${latency}P95`, color, dash: [5, 4] },
      { label: 'p99', column: `${latency}P99`, color, dash: [2, 3] },
    ],
    unit: 'ms',
    format: formatMs,
    yAxis: LOGARITHMIC_MS,
    describe: ({ figures }) => describeLatency(title.toLowerCase(), figures?.[`${latency}Ms`]),
  });
}

function describeLatency(name: string, summary: ServeStats['ttftMs'] | undefined): string {
  if (!summary || summary.count === 0) return `no ${name} yet`;
  const { p50, p95, p99 } = summary;
  return `${name} p50 ${formatMs(p50)}, p95 ${formatMs(p95)}, p99 ${formatMs(p99)}`;
}

function formatMebibytes(value: number | null): string {
  return value === null ? NO_VALUE : `${value.toFixed(1)} MiB`;
}
