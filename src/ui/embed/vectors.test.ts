import { describe, expect, it } from 'vitest';

import { nearestTo, projectToPlane, type Vectors } from './vectors.ts';

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

describe('projectToPlane', () => {
  /** Where NumPy's SVD of the centered rows puts them, scaled to 0…1; an axis may point either way. */
  const ROWS = [
    [4, 0, 0.1, 1],
    [-4, 0.5, 0, 1],
    [1, 2, -0.1, 1],
    [-1, -2, 0.2, 1],
    [0.5, -1, 0, 1],
  ] as const;
  const EXPECTED = {
    x: [0, 1, 0.360986, 0.642887, 0.44695],
    y: [0.564122, 0.307541, 0, 1, 0.763759],
  };

  it('puts vectors on their two principal axes', () => {
    const places = projectToPlane(vectorsOf(...ROWS));
    for (const [at, expected] of [EXPECTED.x, EXPECTED.y].entries()) {
      const found = ROWS.map((_, index) => places[2 * index + at] ?? NaN);
      const isTurned = Math.abs((found[2] ?? NaN) - (expected[2] ?? NaN)) > 0.1;
      for (const [index, place] of found.entries())
        expect(isTurned ? 1 - place : place).toBeCloseTo(expected[index] ?? NaN, 4);
    }
  });

  it('puts what is the same at one place, in the middle where all are', () => {
    expect([...projectToPlane(vectorsOf([1, 0], [1, 0]))]).toEqual([0.5, 0.5, 0.5, 0.5]);
  });

  it('takes 10,000 vectors of 384 dimensions', () => {
    const values = new Float32Array(10_000 * 384);
    for (const at of values.keys()) values[at] = (at * 7919) % 1009;
    const places = projectToPlane({ values, dimensions: 384 });
    expect(places).toHaveLength(20_000);
    expect(places.every((place) => place >= 0 && place <= 1)).toBe(true);
  });
});
