import type { ChartHead } from './chart-head.ts';

export const BATCH_SIZE_HEAD: ChartHead = {
  testId: 'batch-size-chart',
  title: 'Batch size',
  subtitle: 'sequences per step',
  emptyText: 'Run 9 prompts to see each step as a bar.',
  lines: [
    { label: 'decode', color: '--series-decode', mark: 'bar' },
    { label: 'prefill', color: '--series-prefill', mark: 'bar' },
    { label: 'waiting', color: '--series-queue', mark: 'bar' },
  ],
};

export const LATENCY_HEAD: ChartHead = {
  testId: 'latency-chart',
  title: 'Latency',
  subtitle: 'logarithmic',
  emptyText: 'Run 9 prompts to time each token.',
  lines: [
    { label: 'inter-token', color: '--series-itl' },
    { label: 'first token', color: '--series-ttft', mark: 'point' },
  ],
};

/** Where no slots follow, whose times the charts above them share. */
export const TIMED_LATENCY_HEAD: ChartHead = { ...LATENCY_HEAD };

/** In place of the batch size, which a server doesn't report. */
export const TOKENS_HEAD: ChartHead = {
  testId: 'tokens-chart',
  title: 'Tokens/s',
  subtitle: 'all requests together',
  emptyText: 'Run 9 prompts to count their tokens.',
  lines: [
    { label: 'output', color: '--series-decode' },
    { label: 'prompt', color: '--series-prefill', dash: [5, 4] },
  ],
};

/** In place of each step's latency, which a server doesn't report. */
export const SERVER_LATENCY_HEAD: ChartHead = {
  ...LATENCY_HEAD,
  lines: [
    { label: 'inter-token p50', color: '--series-itl' },
    { label: 'p95', color: '--series-itl', dash: [5, 4] },
    { label: 'first token p50', color: '--series-ttft' },
    { label: 'p95', color: '--series-ttft', dash: [5, 4] },
  ],
};
