import { describe, expect, it } from 'vitest';

import { nearestTo, type Vectors } from './vectors.ts';

function vectorsOf(...rows: readonly (readonly number[])[]): Vectors {
  return { values: Float32Array.from(rows.flat()), dimensions: rows[0]?.length ?? 1 };
}

describe('nearestTo', () => {
  it('orders by the cosine, best first, and keeps the order of equal ones', () => {
    const vectors = vectorsOf([0, 1], [1, 0], [0.6, 0.8], [1, 0]);
    expect(nearestTo([1, 0], vectors, 3)).toEqual([
      { index: 1, score: 1 },
      { index: 3, score: 1 },
      { index: 2, score: expect.closeTo(0.6, 6) },
    ]);
  });
});
