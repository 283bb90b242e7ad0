import { describe, expect, it } from 'vitest';

import { cosineSimilarity, topK } from './vectors.ts';

describe('the similarity of two vectors', () => {
  it('is the cosine of their angle, whatever their lengths', () => {
    expect(cosineSimilarity([3, 0], [5, 0])).toBe(1);
    expect(cosineSimilarity([1, 0], Float32Array.of(0, 2))).toBe(0);
    expect(cosineSimilarity([1, 1], [-2, -2])).toBeCloseTo(-1, 12);
  });

  it('is 0 for a vector of zeros, and none for vectors of two lengths', () => {
    expect(cosineSimilarity([0, 0], [1, 2])).toBe(0);
    expect(() => cosineSimilarity([1], [1, 2])).toThrow(/one length, got 1 and 2/);
  });
});

it('the nearest vectors come best first, and equal ones in their order', () => {
  expect(
    topK(
      [1, 0],
      [
        [0, 1],
        [1, 0],
        [0.6, 0.8],
        [2, 0],
      ],
      3,
    ),
  ).toEqual([
    { index: 1, score: 1 },
    { index: 3, score: 1 },
    { index: 2, score: expect.closeTo(0.6, 12) },
  ]);
});
