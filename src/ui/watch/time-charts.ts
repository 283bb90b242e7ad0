import { formatCount, formatMs, formatNumber } from '../format.ts';
import type { ChartSpec } from './chart-spec.ts';
import { describePercentiles, fromZero, LOGARITHMIC_MS, percentileLines, timeChart } from './time-chart.ts';

const EMPTY_LATENCY = 'Send a prompt: its latency appears here.';
const EMPTY_RATE = 'Send a prompt: its tokens are counted here.';

export const TTFT_CHART: ChartSpec = timeChart({
  testId: 'ttft-chart',
  title: 'Time to first token',
  subtitle: 'queue wait included, logarithmic',
  emptyText: EMPTY_LATENCY,
  lines: percentileLines('ttft', '--series-ttft'),
  unit: 'ms',
  format: formatMs,
  yAxis: LOGARITHMIC_MS,
  describe: describePercentiles('time to first token', ({ figures }) => figures?.ttftMs),
});

export const ITL_CHART: ChartSpec = timeChart({
  testId: 'itl-chart',
  title: 'Inter-token latency',
  subtitle: 'from one token to the next, logarithmic',
  emptyText: EMPTY_LATENCY,
  lines: percentileLines('itl', '--series-itl'),
  unit: 'ms',
  format: formatMs,
  yAxis: LOGARITHMIC_MS,
  describe: describePercentiles('inter-token latency', ({ figures }) => figures?.itlMs),
});

export const QUEUE_WAIT_CHART: ChartSpec = timeChart({
  testId: 'queue-wait-chart',
  title: 'Queue wait',
  subtitle: 'until a slot was free, logarithmic',
  emptyText: EMPTY_LATENCY,
  lines: percentileLines('queueWait', '--series-queue'),
  unit: 'ms',
  format: formatMs,
  yAxis: LOGARITHMIC_MS,
  describe: describePercentiles('queue wait', ({ figures }) => figures?.queueWaitMs),
});

export const E2E_CHART: ChartSpec = timeChart({
  testId: 'e2e-chart',
  title: 'End-to-end latency',
  subtitle: 'from arrival to the last token, logarithmic',
  emptyText: EMPTY_LATENCY,
  lines: percentileLines('e2e', '--series-e2e'),
  unit: 'ms',
  format: formatMs,
  yAxis: LOGARITHMIC_MS,
  describe: describePercentiles('end-to-end latency', ({ figures }) => figures?.e2eMs),
});

export const TOKENS_CHART: ChartSpec = timeChart({
  testId: 'tokens-chart',
  title: 'Tokens per second',
  subtitle: 'of all requests together',
  emptyText: EMPTY_RATE,
  lines: [
    { label: 'out', column: 'tokensOutPerSecond', color: '--series-decode' },
    { label: 'in (prompts)', column: 'tokensInPerSecond', color: '--series-prefill', dash: [5, 4] },
  ],
  unit: 'tokens/s',
  format: (value) => `${formatNumber(value)}/s`,
  yAxis: fromZero(),
  describe: ({ figures }) =>
    figures ? `${formatNumber(figures.tokensPerSecond)} output tokens per second` : 'no token yet',
});

export const UTILIZATION_CHART: ChartSpec = timeChart({
  testId: 'utilization-chart',
  title: 'Batch utilisation',
  subtitle: 'of max batch size, weighed by time',
  emptyText: 'Send a prompt: how full its batch is appears here.',
  lines: [{ label: 'decode steps', column: 'utilization', color: '--series-decode' }],
  unit: '%',
  format: (value) => (value === null ? '–' : `${value.toFixed(0)} %`),
  yAxis: fromZero(100),
  describe: ({ history }) => {
    const utilization = history.samples.last('utilization');
    return utilization === null ? 'no decode step yet' : `batch ${utilization.toFixed(0)} % full`;
  },
});

export const KV_CACHE_CHART: ChartSpec = timeChart({
  testId: 'kv-cache-chart',
  title: 'K/V memory',
  subtitle: 'keys and values of what runs, and what is reserved',
  emptyText: 'Send a prompt: the memory of its keys and values appears here.',
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
});

export const FINISH_CHART: ChartSpec = timeChart({
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
  format: (value) => (value === null ? '–' : formatCount(value)),
  yAxis: fromZero(),
  describe: ({ figures }) => {
    if (!figures) return 'nothing has ended yet';
    const { stop, length, abort, error } = figures.finishReasons;
    return `${stop} stop, ${length} length, ${abort} abort, ${error} error, ${figures.totals.rejected} rejected`;
  },
});

function formatMebibytes(value: number | null): string {
  return value === null ? '–' : `${value.toFixed(1)} MiB`;
}
