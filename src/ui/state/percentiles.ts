import type { LatencySummary } from '../../client/index.ts';

export type Percentiles = Omit<LatencySummary, 'count'>;

/** Nearest rank, like the worker's metrics: the smallest value that at least this share does not exceed. */
export function percentilesOf(values: readonly number[]): Percentiles | undefined {
  if (values.length === 0) return undefined;
  const sorted = values.toSorted((a, b) => a - b);
  const at = (share: number): number => sorted[Math.ceil(share * sorted.length) - 1] ?? 0;
  return { p50: at(0.5), p95: at(0.95), p99: at(0.99) };
}
