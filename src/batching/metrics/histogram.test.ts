import { describe, expect, it } from 'vitest';
import { estimateQuantile, Histogram } from './histogram.ts';

function createHistogram(upperBounds: readonly number[], values: readonly number[]): Histogram {
  const histogram = new Histogram(upperBounds);
  for (const value of values) histogram.observe(value);
  return histogram;
}

function quantileOf(upperBounds: readonly number[], values: readonly number[], quantile: number): number {
  return estimateQuantile(createHistogram(upperBounds, values).snapshot, quantile);
}

const repeat = (value: number, times: number): number[] => Array.from({ length: times }, () => value);

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
    it.each([[[]], [[1, 1]], [[2, 1]], [[1, Infinity]], [[NaN]]])('the buckets %j', (buckets) => {
      expect(() => new Histogram(buckets)).toThrow(
        /^Expected `buckets` to be one or more finite upper bounds/,
      );
    });

    it.each([NaN, Infinity, -Infinity])('the observation %d, and records nothing of it', (value) => {
      const histogram = createHistogram([1], []);
      expect(() => histogram.observe(value)).toThrow(
        new RangeError(`Expected \`value\` to be a finite number, got \`${value}\` (number)`),
      );
      expect(histogram.snapshot).toEqual(createHistogram([1], []).snapshot);
    });
  });
});

describe('estimateQuantile', () => {
  it('interpolates within the bucket in which the rank falls', () => {
    expect(quantileOf([10, 20], [...repeat(5, 4), ...repeat(15, 6)], 0.7)).toBe(15);
  });

  it('agrees with the worked example of ClickHouse for its twin of histogram_quantile', () => {
    const snapshot = {
      buckets: [
        { upperBound: 0, cumulativeCount: 6 },
        { upperBound: 0.5, cumulativeCount: 11 },
        { upperBound: 1, cumulativeCount: 14 },
      ],
      sum: 0,
      count: 19,
    };
    expect(estimateQuantile(snapshot, 0.5)).toBeCloseTo(0.35, 12);
  });

  it('takes the lowest bucket to start at zero', () => {
    expect(quantileOf([10, 20], repeat(9, 4), 0.5)).toBe(5);
  });

  it('puts everything in a lowest bucket at or below zero at its bound', () => {
    expect(quantileOf([-10, 20], repeat(-50, 4), 0.5)).toBe(-10);
    expect(quantileOf([0, 20], repeat(-50, 4), 0.5)).toBe(0);
  });

  it('interpolates between negative bounds', () => {
    expect(quantileOf([-20, -10], repeat(-15, 4), 0.5)).toBe(-15);
  });

  it('gives the last bound for what lies beyond it', () => {
    expect(quantileOf([10, 20], [5, 100, 100], 0.9)).toBe(20);
    expect(quantileOf([10, 20], [100], 0)).toBe(20);
  });

  it('steps over empty buckets', () => {
    expect(quantileOf([1, 2, 4, 8], [3, 3], 0)).toBe(2);
    expect(quantileOf([1, 2, 4, 8], [3, 3], 1)).toBe(4);
  });

  it('is NaN while there is no observation', () => {
    expect(quantileOf([1], [], 0.5)).toBeNaN();
  });

  it.each([-0.1, 1.1, NaN])('rejects the quantile %d', (quantile) => {
    expect(() => quantileOf([1], [1], quantile)).toThrow(
      new RangeError(`Expected \`quantile\` to be a number from 0 to 1, got \`${quantile}\` (number)`),
    );
  });
});
