import { EMBEDDER } from '../../../client/index.ts';
import type { ChartHead } from './chart-head.ts';

export const BATCH_TOKENS_HEAD: ChartHead = {
  testId: 'batch-tokens-chart',
  title: 'Tokens per batch',
  subtitle: 'padding on top',
  emptyText: 'Embed lines to see each batch as a bar.',
  deployment: EMBEDDER,
  lines: [
    { label: 'useful', color: '--series-decode', mark: 'bar' },
    { label: 'padding', color: '--series-prefill', mark: 'bar' },
    { label: 'waiting', color: '--series-queue', mark: 'bar' },
  ],
};

export const BATCH_LATENCY_HEAD: ChartHead = {
  testId: 'batch-latency-chart',
  title: 'Latency',
  subtitle: 'logarithmic',
  emptyText: 'Embed lines to time each batch.',
  deployment: EMBEDDER,
  lines: [
    { label: 'batch', color: '--series-itl' },
    { label: 'wait', color: '--series-queue', dash: [5, 4] },
  ],
};
