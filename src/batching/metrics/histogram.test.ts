import { describe, expect, it } from 'vitest';
import { Histogram } from './histogram.ts';

function createHistogram(upperBounds: readonly number[], values: readonly number[]): Histogram {
  const histogram = new Histogram(upperBounds);
  for (const value of values) histogram.observe(value);
  return histogram;
}

describe('Histogram', () => {
  it('counts each observation in its bucket and in every larger one, a bound belonging to its own bucket', () => {
    expect(createHistogram([1, 2, 5], [0.5, 1, 1.5, 2, 4]).snapshot).toEqual({
      buckets: [
        { upperBound: 1, cumulativeCount: 2 },
        { upperBound: 2, cumulativeCount: 4 },
        { upperBound: 5, cumulativeCount: 5 },
      ],
      sum: 9,
      count: 5,
    });
  });

  it('holds what is beyond the last bound in the count alone', () => {
    const { buckets, count, sum } = createHistogram([1], [7, 8]).snapshot;
    expect({ buckets, count, sum }).toEqual({
      buckets: [{ upperBound: 1, cumulativeCount: 0 }],
      count: 2,
      sum: 15,
    });
  });

  it('gives snapshots that later observations leave alone', () => {
    const histogram = createHistogram([1], [0]);
    const before = histogram.snapshot;
    histogram.observe(0);
    expect(before).toEqual({ buckets: [{ upperBound: 1, cumulativeCount: 1 }], sum: 0, count: 1 });
  });

  describe('rejects', () => {
    it.each([NaN, Infinity, -Infinity])('the observation %d, and records nothing of it', (value) => {
      const histogram = createHistogram([1], []);
      expect(() => histogram.observe(value)).toThrow(
        new RangeError(`Expected \`value\` to be a finite number, got \`${value}\` (number)`),
      );
      expect(histogram.snapshot).toEqual(createHistogram([1], []).snapshot);
    });
  });
});
