import { formatMs, formatNumber, NO_VALUE } from '../format.ts';
import type { Trial } from './trial.ts';
import type { LoadSummary } from './summarize.ts';

interface Measure {
  readonly title: string;
  readonly color: '--series-decode' | '--good' | '--series-e2e';
  readonly bars: readonly Bar[];
}

interface Bar {
  readonly label: string;
  readonly text: string;
  /** To the value of the first run. */
  readonly ratio: string;
  /** Of the longest bar, 0 to 1. */
  readonly share: number;
}

export function measuresOf(
  trials: readonly Pick<Trial, 'label' | 'summary'>[],
  latencyLimitMs: number,
): readonly Measure[] {
  const bars = (
    valueOf: (summary: LoadSummary) => number | undefined,
    format: (value: number | undefined) => string,
  ): readonly Bar[] => {
    const values = trials.map(({ summary }) => valueOf(summary));
    const longest = Math.max(...values.map((value) => value ?? 0));
    return trials.map(({ label }, index) => ({
      label,
      text: format(values[index]),
      ratio: formatRatio(values[index], values[0]),
      share: longest > 0 ? (values[index] ?? 0) / longest : 0,
    }));
  };
  return [
    {
      title: 'Tokens/s',
      color: '--series-decode',
      bars: bars(({ tokensPerSecond }) => tokensPerSecond, formatNumber),
    },
    {
      title: titleOfGoodput(latencyLimitMs),
      color: '--good',
      bars: bars(({ goodputPerSecond }) => goodputPerSecond, formatNumber),
    },
    {
      title: 'End to end p95, less is better',
      color: '--series-e2e',
      bars: bars(({ e2eMs }) => e2eMs?.p95, formatMs),
    },
  ];
}

export function titleOfGoodput(latencyLimitMs: number): string {
  return `Goodput/s within ${formatMs(latencyLimitMs)}`;
}

export function formatRatio(value: number | undefined, base: number | undefined): string {
  return value === undefined || !base ? NO_VALUE : `${(value / base).toFixed(2)}×`;
}
