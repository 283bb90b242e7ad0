/** Vectors of length 1, one behind the other. */
export interface Vectors {
  readonly values: Float32Array;
  readonly dimensions: number;
}

export interface Nearest {
  readonly index: number;
  /** The cosine to the query, from -1 to 1. */
  readonly score: number;
}

/** The nearest vectors, best first. Equal ones keep their order. */
export function nearestTo(query: ArrayLike<number>, vectors: Vectors, count: number): readonly Nearest[] {
  const scored = Array.from({ length: vectors.values.length / vectors.dimensions }, (_, index) => ({
    index,
    score: dot(vectors, index, query),
  }));
  return scored.toSorted((a, b) => b.score - a.score).slice(0, count);
}

function dot({ values, dimensions }: Vectors, index: number, other: ArrayLike<number>): number {
  let sum = 0;
  for (let at = 0; at < dimensions; at += 1) sum += (values[index * dimensions + at] ?? 0) * (other[at] ?? 0);
  return sum;
}
