import type { HistogramSnapshot } from './histogram.ts';
import type { Labels, MetricSnapshot, Sample } from './registry.ts';

/**
 * Prometheus' text exposition format 0.0.4 (https://prometheus.io/docs/instrumenting/exposition_formats), to be served
 * as `text/plain; version=0.0.4`. Metrics are sorted by name and samples by labels, so that equal snapshots give equal
 * texts. A metric without samples keeps its HELP and TYPE. A registry without metrics gives an empty text.
 */
export function toPrometheusText(snapshot: readonly MetricSnapshot[]): string {
  return sortedBy(snapshot, ({ name }) => name)
    .flatMap(toLines)
    .map((line) => `${line}\n`)
    .join('');
}

function toLines(metric: MetricSnapshot): string[] {
  const { name, help, type } = metric;
  const samples =
    metric.type === 'histogram'
      ? inOrder(metric.samples).flatMap(({ pairs, value }) => toHistogramLines(name, pairs, value))
      : inOrder(metric.samples).map(({ pairs, value }) => toLine(name, pairs, value));
  return [`# HELP ${name} ${escapeHelp(help)}`, `# TYPE ${name} ${type}`, ...samples];
}

/** Buckets are cumulative in the format too. That of +Inf counts all observations. */
function toHistogramLines(
  name: string,
  pairs: string[],
  { buckets, sum, count }: HistogramSnapshot,
): string[] {
  const toBucketLine = (upperBound: number, cumulativeCount: number): string =>
    toLine(`${name}_bucket`, [...pairs, `le="${formatNumber(upperBound)}"`], cumulativeCount);
  return [
    ...buckets.map(({ upperBound, cumulativeCount }) => toBucketLine(upperBound, cumulativeCount)),
    toBucketLine(Infinity, count),
    toLine(`${name}_sum`, pairs, sum),
    toLine(`${name}_count`, pairs, count),
  ];
}

function toLine(name: string, pairs: readonly string[], value: number): string {
  const labels = pairs.length === 0 ? '' : `{${pairs.join(',')}}`;
  return `${name}${labels} ${formatNumber(value)}`;
}

/** Go's spelling: `+Inf`, `-Inf` and `NaN`; Go reads every finite number as JavaScript writes it. */
function formatNumber(value: number): string {
  if (value === Infinity) return '+Inf';
  return value === -Infinity ? '-Inf' : String(value);
}

function toPairs(labels: Labels<string>): string[] {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escapeLabelValue(value)}"`);
  return sortedBy(pairs, (pair) => pair);
}

function escapeLabelValue(value: string): string {
  return escapeHelp(value).replaceAll('"', String.raw`\"`);
}

/** Escapes backslashes first: the other escapes contain them. */
function escapeHelp(help: string): string {
  return help.replaceAll('\\', String.raw`\\`).replaceAll('\n', String.raw`\n`);
}

function inOrder<Value>(samples: readonly Sample<Value>[]): { pairs: string[]; value: Value }[] {
  const inPairs = samples.map(({ labels, value }) => ({ pairs: toPairs(labels), value }));
  return sortedBy(inPairs, ({ pairs }) => pairs.join(','));
}

/** By code units, independent of the locale. No two keys are equal. */
function sortedBy<Element>(elements: readonly Element[], keyOf: (element: Element) => string): Element[] {
  return elements.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
}
