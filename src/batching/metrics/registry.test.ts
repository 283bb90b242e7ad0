import { describe, expect, expectTypeOf, it } from 'vitest';
import {
  MetricsRegistry,
  type Counter,
  type Gauge,
  type HistogramMetric,
  type MetricSnapshot,
} from './registry.ts';

interface Rig {
  readonly registry: MetricsRegistry;
  readonly counter: Counter<'deployment' | 'reason'>;
  /** Each sample of the counter as [deployment, reason, value]. */
  readonly samples: () => unknown[];
}

function createRig(): Rig {
  const registry = new MetricsRegistry();
  const counter = registry.counter('cuts_total', 'Cuts.', ['deployment', 'reason']);
  const samples = (): unknown[] =>
    registry
      .snapshot()
      .flatMap((metric) =>
        metric.samples.map(({ labels, value }) => [labels['deployment'], labels['reason'], value]),
      );
  return { registry, counter, samples };
}

describe('MetricsRegistry', () => {
  it('adds up a counter per set of labels, by one unless told otherwise', () => {
    const { counter, samples } = createRig();
    counter.inc({ deployment: 'adder', reason: 'full' });
    counter.inc({ reason: 'full', deployment: 'adder' }, 2.5);
    counter.inc({ deployment: 'adder', reason: 'idle' }, 0);
    expect(samples()).toEqual([
      ['adder', 'full', 3.5],
      ['adder', 'idle', 0],
    ]);
  });

  it('keeps the latest value of a gauge, whatever it is', () => {
    const registry = new MetricsRegistry();
    const gauge = registry.gauge('waiting', 'Waiting.', ['deployment']);
    gauge.set({ deployment: 'a' }, 3);
    gauge.set({ deployment: 'a' }, -1);
    gauge.set({ deployment: 'b' }, NaN);
    expect(registry.snapshot()).toEqual([
      {
        type: 'gauge',
        name: 'waiting',
        help: 'Waiting.',
        samples: [
          { labels: { deployment: 'a' }, value: -1 },
          { labels: { deployment: 'b' }, value: NaN },
        ],
      },
    ]);
  });

  it('keeps a histogram per set of labels', () => {
    const registry = new MetricsRegistry();
    const histogram = registry.histogram('wait_ms', 'Wait.', ['deployment'], [10]);
    histogram.observe({ deployment: 'a' }, 4);
    histogram.observe({ deployment: 'b' }, 40);
    const [metric] = registry.snapshot();
    expect(metric?.samples).toEqual([
      {
        labels: { deployment: 'a' },
        value: { buckets: [{ upperBound: 10, cumulativeCount: 1 }], sum: 4, count: 1 },
      },
      {
        labels: { deployment: 'b' },
        value: { buckets: [{ upperBound: 10, cumulativeCount: 0 }], sum: 40, count: 1 },
      },
    ]);
  });

  it('has metrics without labels', () => {
    const registry = new MetricsRegistry();
    registry.counter('steps_total', 'Steps.', []).inc({}, 2);
    expect(registry.snapshot()[0]?.samples).toEqual([{ labels: {}, value: 2 }]);
  });

  it('never takes one set of labels for another, whatever their values contain', () => {
    const { counter, samples } = createRig();
    const values = ['', ',', '"', '","', '\\', '\0', '\n', '\ud800', '\\ud800', '__proto__', 'constructor'];
    for (const deployment of values) {
      for (const reason of values) counter.inc({ deployment, reason });
    }
    expect(samples()).toEqual(
      values.flatMap((deployment) => values.map((reason) => [deployment, reason, 1])),
    );
  });

  it('is not changed through labels or buckets that were handed to it', () => {
    const registry = new MetricsRegistry();
    const buckets = [10];
    const histogram = registry.histogram('wait_ms', 'Wait.', ['deployment'], buckets);
    const labels = { deployment: 'a' };
    buckets.push(1);
    histogram.observe(labels, 4);
    labels.deployment = 'b';
    expect(registry.snapshot()[0]?.samples[0]?.labels).toEqual({ deployment: 'a' });
  });

  it('gives snapshots that can be cloned and that later changes leave alone', () => {
    const { registry, counter } = createRig();
    const histogram = registry.histogram('wait_ms', 'Wait.', ['deployment'], [10]);
    const record = (): void => {
      counter.inc({ deployment: 'a', reason: 'full' });
      histogram.observe({ deployment: 'a' }, 4);
    };
    record();
    const before = registry.snapshot();
    const clone = structuredClone(before);
    record();
    expect(before).toEqual(clone);
    expect(registry.snapshot()).not.toEqual(clone);
  });

  describe('when a name is registered again', () => {
    it('gives the metric that there is, in whatever order its labels are named, and keeps its help', () => {
      const { registry, counter, samples } = createRig();
      const again = registry.counter('cuts_total', 'Other words.', ['reason', 'deployment']);
      counter.inc({ deployment: 'a', reason: 'full' });
      again.inc({ deployment: 'a', reason: 'full' });
      expect(samples()).toEqual([['a', 'full', 2]]);
      expect(registry.snapshot().map(({ help }) => help)).toEqual(['Cuts.']);
    });

    it('rejects another type', () => {
      const { registry } = createRig();
      expect(() => registry.gauge('cuts_total', 'Cuts.', ['deployment', 'reason'])).toThrow(
        '`cuts_total` is a counter of (deployment, reason) and cannot be a gauge of (deployment, reason) too: ' +
          'give one another name.',
      );
    });

    it('rejects other labels', () => {
      const { registry } = createRig();
      expect(() => registry.counter('cuts_total', 'Cuts.', ['deployment'])).toThrow(
        'cannot be a counter of (deployment) too',
      );
    });

    it('rejects other buckets', () => {
      const registry = new MetricsRegistry();
      registry.histogram('wait_ms', 'Wait.', [], [1, 2]);
      expect(() => registry.histogram('wait_ms', 'Wait.', [], [1, 3])).toThrow(
        '`wait_ms` is a histogram of () in buckets 1, 2 and cannot be a histogram of () in buckets 1, 3 too',
      );
    });
  });

  describe('rejects', () => {
    it.each([-1, NaN, Infinity])('a counter that goes up by %d', (value) => {
      const { counter } = createRig();
      expect(() => counter.inc({ deployment: 'a', reason: 'full' }, value)).toThrow(
        new RangeError(`Expected \`value\` to be a finite number >= 0, got \`${value}\` (number)`),
      );
    });
  });

  it('types the labels of a metric by their names', () => {
    const { counter } = createRig();
    // @ts-expect-error -- a label is missing
    counter.inc({ deployment: 'a' });
    // @ts-expect-error -- one label too many
    counter.inc({ deployment: 'a', reason: 'full', code: 'x' });
    // @ts-expect-error -- not a string
    counter.inc({ deployment: 'a', reason: 1 });
    const registry = new MetricsRegistry();
    const gauge = registry.gauge('waiting', 'Waiting.', ['deployment', 'tab']);
    expectTypeOf(gauge).toEqualTypeOf<Gauge<'deployment' | 'tab'>>();
    const histogram = registry.histogram('wait_ms', 'Wait.', [], [1]);
    expectTypeOf(histogram).toEqualTypeOf<HistogramMetric<never>>();
    expectTypeOf(registry.snapshot()).toEqualTypeOf<MetricSnapshot[]>();
  });
});
