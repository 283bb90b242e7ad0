/** Shown where there is no value yet. */
export const NO_VALUE = '–';

const COMPACT = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 });
const EUROS = new Intl.NumberFormat('en', { style: 'currency', currency: 'EUR', maximumFractionDigits: 0 });
const GROUPED = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });

/**
 * The number that a field holds: NaN for a text that is none. An integer is written in plain digits, and beyond 2⁵³ it would be
 * rounded.
 */
export function parseNumber(text: string): number {
  const number = Number(text);
  if (!Number.isInteger(number)) return number;
  return Number.isSafeInteger(number) && /^\s*[+-]?\d+(?:\.0*)?\s*$/.test(text) ? number : Number.NaN;
}

export function formatCount(count: number): string {
  return GROUPED.format(count);
}

/** `1 row`, `2,000 rows` */
export function countOf(count: number, one: string, many = `${one}s`): string {
  return `${formatCount(count)} ${count === 1 ? one : many}`;
}

/** Three significant figures: 0.42, 42.3, 4,213. More can’t be read while a number moves. */
export function formatNumber(value: number | null | undefined): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return NO_VALUE;
  if (value >= 99.95) return GROUPED.format(value);
  return value.toFixed(value >= 9.995 ? 1 : 2);
}

/** A share, 0 to 1, as a percentage: `7.5 %`, `12 %`. */
export function formatShare(share: number): string {
  return `${(share * 100).toFixed(share < 0.0995 ? 1 : 0)} %`;
}

/** ms below ten seconds, s from there. */
export function formatMs(durationMs: number | null | undefined): string {
  return durationMs === null || durationMs === undefined ? NO_VALUE : formatEachMs([durationMs]);
}

/** Durations that are read together, in the unit of the longest: “3.27 / 12.3 s”. */
export function formatEachMs(durationsMs: readonly number[]): string {
  const [divisor, unit] = Math.max(...durationsMs) < 10_000 ? [1, 'ms'] : [1000, 's'];
  return `${durationsMs.map((durationMs) => formatNumber(durationMs / divisor)).join(' / ')} ${unit}`;
}

/** As a reader compares them: tenths of a second from a tenth on. */
export function formatSeconds(durationMs: number): string {
  if (durationMs < 95) return `${Math.round(durationMs)} ms`;
  return `${(durationMs / 1000).toFixed(durationMs < 9950 ? 1 : 0)} s`;
}

/** Empty where the two are about the same, or the other way round. */
export function describeFaster(shortMs: number, longMs: number): string {
  const ratio = longMs / shortMs;
  return ratio >= 1.05 && Number.isFinite(ratio) ? `${ratio.toFixed(1)}× faster` : '';
}

/** `1.1M` */
export function formatCompact(count: number): string {
  return COMPACT.format(Math.round(count));
}

export function formatParameters(numParameters: number): string {
  return `${formatCompact(numParameters)} parameters`;
}

/** `10.3 KB`, `269 MB`, `1.24 GB` */
export function formatBytes(numBytes: number): string {
  if (numBytes < 0.9995e6) return `${formatNumber(numBytes / 1e3)} KB`;
  return numBytes < 0.9995e9 ? `${formatNumber(numBytes / 1e6)} MB` : `${formatNumber(numBytes / 1e9)} GB`;
}

export function formatMegabytes(numBytes: number): string {
  return (numBytes / 1e6).toFixed(1);
}

export function formatEuros(euros: number): string {
  return EUROS.format(euros);
}

/** A value of a user's own deployment on one line. */
export function formatJson(value: unknown): string {
  try {
    // The declared type lacks undefined, which `stringify(undefined)` returns.
    const json: string | undefined = JSON.stringify(value);
    return json ?? String(value);
  } catch {
    return Object.prototype.toString.call(value);
  }
}
