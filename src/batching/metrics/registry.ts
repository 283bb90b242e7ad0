import { describeInvalid } from '../base/errors.ts';
import { Histogram, type HistogramSnapshot } from './histogram.ts';

export type Labels<Key extends string> = Readonly<Record<Key, string>>;

/** The value of one set of labels. Lists have them in order of first appearance. */
export interface Sample<Value> {
  readonly labels: Labels<string>;
  readonly value: Value;
}

interface Snapshot<Type extends string, Value> {
  readonly type: Type;
  readonly name: string;
  readonly help: string;
  readonly samples: readonly Sample<Value>[];
}

/** Plain data that can be cloned to another context. */
export type MetricSnapshot = Snapshot<'counter' | 'gauge', number> | Snapshot<'histogram', HistogramSnapshot>;

export interface Counter<Key extends string> {
  /** @throws RangeError for a negative value. */
  inc(labels: Labels<Key>, value?: number): void;
}

export interface Gauge<Key extends string> {
  /** Takes NaN and the infinities too. */
  set(labels: Labels<Key>, value: number): void;
}

export interface HistogramMetric<Key extends string> {
  observe(labels: Labels<Key>, value: number): void;
}

interface Registered<Metric> {
  readonly metric: Metric;
  readonly snapshot: () => MetricSnapshot;
}

/**
 * The metrics of one context, in memory. Registering a name again returns the existing metric. Its type, label names (in any
 * order) and buckets must be the same.
 */
export class MetricsRegistry {
  readonly #registered = new Map<string, Registered<unknown> & { readonly shape: string }>();

  counter<Key extends string = never>(name: string, help: string, labelNames: readonly Key[]): Counter<Key> {
    return this.#register<Counter<Key>>(name, `a counter of ${inWords(labelNames)}`, () => {
      const series = new SeriesMap(labelNames, () => 0);
      const inc = (labels: Labels<Key>, value = 1): void => {
        series.at(labels).value += requireIncrement(value);
      };
      return { metric: { inc }, snapshot: () => ({ type: 'counter', name, help, samples: series.samples }) };
    });
  }

  gauge<Key extends string = never>(name: string, help: string, labelNames: readonly Key[]): Gauge<Key> {
    return this.#register<Gauge<Key>>(name, `a gauge of ${inWords(labelNames)}`, () => {
      const series = new SeriesMap(labelNames, () => 0);
      const set = (labels: Labels<Key>, value: number): void => {
        series.at(labels).value = value;
      };
      return { metric: { set }, snapshot: () => ({ type: 'gauge', name, help, samples: series.samples }) };
    });
  }

  /** `buckets` are finite upper bounds, one or more, ascending and inclusive; +Inf is added. */
  histogram<Key extends string = never>(
    name: string,
    help: string,
    labelNames: readonly Key[],
    buckets: readonly number[],
  ): HistogramMetric<Key> {
    const bounds = [...buckets];
    const shape = `a histogram of ${inWords(labelNames)} in buckets ${bounds.join(', ')}`;
    return this.#register<HistogramMetric<Key>>(name, shape, () => {
      const series = new SeriesMap(labelNames, () => new Histogram(bounds));
      const observe = (labels: Labels<Key>, value: number): void => series.at(labels).value.observe(value);
      const samples = (): Sample<HistogramSnapshot>[] =>
        series.samples.map(({ labels, value }) => ({ labels, value: value.snapshot }));
      return { metric: { observe }, snapshot: () => ({ type: 'histogram', name, help, samples: samples() }) };
    });
  }

  /** In order of registration. Later changes do not affect it. */
  snapshot(): MetricSnapshot[] {
    return Array.from(this.#registered.values(), ({ snapshot }) => snapshot());
  }

  #register<Metric>(name: string, shape: string, create: () => Registered<Metric>): Metric {
    const existing = this.#registered.get(name);
    if (existing && existing.shape !== shape) {
      throw new Error(`\`${name}\` is ${existing.shape} and cannot be ${shape} too: give one another name.`);
    }
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the same shape is the same type
    if (existing) return existing.metric as Metric;
    const created = create();
    this.#registered.set(name, { ...created, shape });
    return created.metric;
  }
}

function requireIncrement(value: number): number {
  if (value >= 0 && value < Infinity) return value;
  throw new RangeError(describeInvalid('value', 'a finite number >= 0', value));
}

function inWords(labelNames: readonly string[]): string {
  return `(${labelNames.toSorted().join(', ')})`;
}

class SeriesMap<Key extends string, Value> {
  readonly #labelNames: readonly Key[];
  readonly #initial: () => Value;
  /** By the label values as a JSON list, so that no two sets of values have the same key. */
  readonly #series = new Map<string, { readonly labels: Labels<string>; value: Value }>();

  constructor(labelNames: readonly Key[], initial: () => Value) {
    this.#labelNames = labelNames;
    this.#initial = initial;
  }

  get samples(): Sample<Value>[] {
    return Array.from(this.#series.values(), (series) => ({ ...series }));
  }

  at(labels: Labels<Key>): { value: Value } {
    const key = JSON.stringify(this.#labelNames.map((name) => labels[name]));
    const existing = this.#series.get(key);
    if (existing) return existing;
    const created = { labels: { ...labels }, value: this.#initial() };
    this.#series.set(key, created);
    return created;
  }
}
