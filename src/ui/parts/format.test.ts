import { describe, expect, it } from 'vitest';

import {
  countOf,
  formatBytes,
  formatEachMs,
  formatEuros,
  formatJson,
  formatMegabytes,
  formatMs,
  formatNumber,
  formatParameters,
  formatSeconds,
  NO_VALUE,
  parseNumber,
} from './format.ts';

describe('a typed number', () => {
  it.each([
    ['12', 12],
    [' -3 ', -3],
    ['2.0', 2],
    ['0.5', 0.5],
    ['1e-3', 0.001],
    ['9007199254740991', 9_007_199_254_740_991],
    ['Infinity', Infinity],
  ])('%s is what it says', (text, number) => {
    expect(parseNumber(text)).toBe(number);
  });

  it.each(['', ' ', 'many', '0x10', '1e3', '9007199254740993', '2.9999999999999999999', '1e-400'])(
    '“%s” is refused, where it would be another one or is meant as an integer',
    (text) => {
      expect(parseNumber(text)).toBeNaN();
    },
  );
});

it.each([
  [0, 'row', undefined, '0 rows'],
  [1, 'row', undefined, '1 row'],
  [2000, 'row', undefined, '2,000 rows'],
  [1, 'batch', 'batches', '1 batch'],
  [2, 'batch', 'batches', '2 batches'],
])('%i of “%s” is said in one or many', (count, one, many, text) => {
  expect(countOf(count, one, many)).toBe(text);
});

describe('numbers', () => {
  it.each([
    [0, '0.00'],
    [0.423, '0.42'],
    [9.994, '9.99'],
    [9.999, '10.0'],
    [42.34, '42.3'],
    [99.96, '100'],
    [4213, '4,213'],
  ])('shows %f as %s', (value, text) => {
    expect(formatNumber(value)).toBe(text);
  });

  it.each([undefined, null, Number.NaN])('shows %s as missing', (value) => {
    expect(formatNumber(value)).toBe(NO_VALUE);
  });
});

describe('units', () => {
  it('changes from milliseconds to seconds at ten seconds', () => {
    expect(formatMs(9400)).toBe('9,400 ms');
    expect(formatMs(12_340)).toBe('12.3 s');
    expect(formatMs(undefined)).toBe(NO_VALUE);
  });

  it('gives durations that are read together the unit of the longest', () => {
    expect(formatEachMs([3266, 12_340])).toBe('3.27 / 12.3 s');
    expect(formatEachMs([12.34, 480, 9400])).toBe('12.3 / 480 / 9,400 ms');
    expect(formatEachMs([10_000, 120_000, 95])).toBe('10.0 / 120 / 0.10 s');
  });

  it('shortens parameter counts and bytes', () => {
    expect(formatParameters(124_439_808)).toBe('124.4M parameters');
    expect(formatMegabytes(4_290_000)).toBe('4.3');
    expect([10_300, 999_900, 269e6, 1.24e9].map(formatBytes)).toEqual([
      '10.3 KB',
      '1.00 MB',
      '269 MB',
      '1.24 GB',
    ]);
  });
});

it('formatEuros groups and leaves the cents out', () => {
  expect(formatEuros(431_204.6)).toBe('€431,205');
});

it('formatJson names what JSON cannot say', () => {
  expect(formatJson({ a: [1, 'x'] })).toBe('{"a":[1,"x"]}');
  expect(formatJson(undefined)).toBe('undefined');
  expect(formatJson(1n)).toBe('[object BigInt]');
});

it.each([
  [42, '42 ms'],
  [96, '0.1 s'],
  [2149, '2.1 s'],
  [9949, '9.9 s'],
  [12_400, '12 s'],
])('writes %d ms as %s', (durationMs, text) => {
  expect(formatSeconds(durationMs)).toBe(text);
});
