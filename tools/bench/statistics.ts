export interface Figure {
  readonly count: number;
  readonly p50?: number;
  readonly p95?: number;
  readonly mean?: number;
  readonly min?: number;
  readonly max?: number;
}

/** Enough to tell noise, and cosines near 1. */
const NUM_DIGITS = 8;

export function figureOf(values: readonly number[]): Figure {
  const sorted = values.toSorted((a, b) => a - b);
  return {
    count: sorted.length,
    p50: rounded(quantile(sorted, 0.5)),
    p95: rounded(quantile(sorted, 0.95)),
    mean: rounded(sum(sorted) / sorted.length),
    min: rounded(sorted.at(0) ?? 0),
    max: rounded(sorted.at(-1) ?? 0),
  };
}

export function medianOf(values: readonly number[]): number {
  return quantile(
    values.toSorted((a, b) => a - b),
    0.5,
  );
}

export function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

/** Interpolates between the two nearest samples; 0 without any. */
function quantile(sorted: readonly number[], share: number): number {
  const position = (sorted.length - 1) * share;
  const below = sorted[Math.floor(position)] ?? 0;
  const above = sorted[Math.ceil(position)] ?? 0;
  return below + (above - below) * (position - Math.floor(position));
}

function rounded(value: number): number {
  return Number(value.toPrecision(NUM_DIGITS));
}
