import { describe, expect, it } from 'vitest';
import { toPrometheusText } from './prometheus.ts';
import { MetricsRegistry } from './registry.ts';

function textOf(record: (registry: MetricsRegistry) => void): string {
  const registry = new MetricsRegistry();
  record(registry);
  return toPrometheusText(registry.snapshot());
}

const inLines = (...lines: readonly string[]): string => lines.map((line) => `${line}\n`).join('');

// The expected texts are written by hand from https://prometheus.io/docs/instrumenting/exposition_formats.
describe('toPrometheusText', () => {
  it('is empty for an empty registry', () => {
    expect(textOf(() => {})).toBe('');
  });

  it('writes help, type, then a line per sample, and ends with a line feed', () => {
    const text = textOf((registry) => {
      const requests = registry.counter('http_requests_total', 'The total number of HTTP requests.', [
        'method',
        'code',
      ]);
      requests.inc({ method: 'post', code: '200' }, 1027);
      requests.inc({ method: 'post', code: '400' }, 3);
    });
    expect(text).toBe(
      inLines(
        '# HELP http_requests_total The total number of HTTP requests.',
        '# TYPE http_requests_total counter',
        'http_requests_total{code="200",method="post"} 1027',
        'http_requests_total{code="400",method="post"} 3',
      ),
    );
  });

  it('writes a histogram as cumulative buckets up to +Inf, then its sum and count', () => {
    const text = textOf((registry) => {
      const wait = registry.histogram('wait_ms', 'Wait.', ['deployment'], [0.5, 1, 10]);
      for (const value of [0.25, 0.75, 1, 4, 100]) wait.observe({ deployment: 'adder' }, value);
    });
    expect(text).toBe(
      inLines(
        '# HELP wait_ms Wait.',
        '# TYPE wait_ms histogram',
        'wait_ms_bucket{deployment="adder",le="0.5"} 1',
        'wait_ms_bucket{deployment="adder",le="1"} 3',
        'wait_ms_bucket{deployment="adder",le="10"} 4',
        'wait_ms_bucket{deployment="adder",le="+Inf"} 5',
        'wait_ms_sum{deployment="adder"} 106',
        'wait_ms_count{deployment="adder"} 5',
      ),
    );
  });

  it('leaves out the braces where there is no label', () => {
    const text = textOf((registry) => {
      registry.gauge('waiting', 'Waiting.', []).set({}, 12.47);
      registry.histogram('wait_ms', 'Wait.', [], [1]).observe({}, 2);
    });
    expect(text).toBe(
      inLines(
        '# HELP wait_ms Wait.',
        '# TYPE wait_ms histogram',
        'wait_ms_bucket{le="1"} 0',
        'wait_ms_bucket{le="+Inf"} 1',
        'wait_ms_sum 2',
        'wait_ms_count 1',
        '# HELP waiting Waiting.',
        '# TYPE waiting gauge',
        'waiting 12.47',
      ),
    );
  });

  it('escapes backslash, double quote and line feed in a label value', () => {
    const text = textOf((registry) => {
      registry
        .gauge('msdos_file_access_time_seconds', 'Access time.', ['path', 'error'])
        .set({ path: 'C:\\DIR\\FILE.TXT', error: 'Cannot find file:\n"FILE.TXT"' }, 1.458255915e9);
    });
    expect(text.split('\n')[2]).toBe(
      String.raw`msdos_file_access_time_seconds{error="Cannot find file:\n\"FILE.TXT\"",path="C:\\DIR\\FILE.TXT"} 1458255915`,
    );
  });

  it('tells a backslash and an n from a line feed', () => {
    const text = textOf((registry) => registry.gauge('x', 'X.', ['a']).set({ a: '\\n\n' }, 1));
    expect(text.split('\n')[2]).toBe(String.raw`x{a="\\n\n"} 1`);
  });

  it('escapes backslash and line feed, but no double quote, in a help text', () => {
    const text = textOf((registry) => registry.gauge('x', 'one\ntwo \\ "three"', []));
    expect(text.split('\n')[0]).toBe(String.raw`# HELP x one\ntwo \\ "three"`);
  });

  it('leaves other characters of a label value as they are', () => {
    const text = textOf((registry) => registry.gauge('x', 'X.', ['a']).set({ a: '{é,=}\t😀' }, 1));
    expect(text.split('\n')[2]).toBe('x{a="{é,=}\t😀"} 1');
  });

  it.each([
    [NaN, 'NaN'],
    [Infinity, '+Inf'],
    [-Infinity, '-Inf'],
    [-0, '0'],
    [0.1 + 0.2, '0.30000000000000004'],
    [1e21, '1e+21'],
    [-5e-7, '-5e-7'],
  ])('writes %d as %s', (value, written) => {
    const text = textOf((registry) => registry.gauge('x', 'X.', []).set({}, value));
    expect(text.split('\n')[2]).toBe(`x ${written}`);
  });

  it('keeps help and type of a metric that has no sample yet', () => {
    const text = textOf((registry) => registry.counter('cuts_total', 'Cuts.', ['reason']));
    expect(text).toBe(inLines('# HELP cuts_total Cuts.', '# TYPE cuts_total counter'));
  });

  it('sorts metrics by name and samples by labels, whatever the order they came in', () => {
    const names = ['b_total', 'a_total', 'B_total', 'c_total'];
    const deployments = ['adder', 'house-price', 'Adder', 'é'];
    const textInOrder = (order: <T>(list: readonly T[]) => readonly T[]): string =>
      textOf((registry) => {
        for (const name of order(names)) {
          const counter = registry.counter(name, 'Help.', order(['deployment', 'code']));
          for (const deployment of order(deployments)) counter.inc({ deployment, code: 'x' });
        }
      });
    const text = textInOrder((list) => list);
    expect(textInOrder((list) => list.toReversed())).toBe(text);
    expect(text.match(/(?<=# TYPE )\w+/g)).toEqual(['B_total', 'a_total', 'b_total', 'c_total']);
    expect(text.match(/(?<=a_total\{.*deployment=")[^"]+/g)).toEqual(['Adder', 'adder', 'house-price', 'é']);
  });
});
