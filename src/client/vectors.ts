/** A vector among others, by how near it is to a query. */
export interface Nearest {
  /** Its place among the vectors. */
  readonly index: number;
  /** The cosine of the angle between them, from -1 to 1. */
  readonly score: number;
}

/** The cosine of the angle between two vectors of one length, from -1 to 1; 0 where one has only zeros. */
export function cosineSimilarity(one: ArrayLike<number>, other: ArrayLike<number>): number {
  if (one.length !== other.length)
    throw new RangeError(`Expected vectors of one length, got ${one.length} and ${other.length} numbers.`);
  let [product, ofOne, ofOther] = [0, 0, 0];
  for (let at = 0; at < one.length; at += 1) {
    const [x = 0, y = 0] = [one[at], other[at]];
    product += x * y;
    ofOne += x * x;
    ofOther += y * y;
  }
  const lengths = Math.sqrt(ofOne * ofOther);
  return lengths === 0 ? 0 : product / lengths;
}

/** The vectors that are nearest to a query, best first. Equal ones keep their order. */
export function topK(
  query: ArrayLike<number>,
  vectors: readonly ArrayLike<number>[],
  count: number,
): readonly Nearest[] {
  const scored = vectors.map((vector, index) => ({ index, score: cosineSimilarity(query, vector) }));
  return scored.toSorted((a, b) => b.score - a.score).slice(0, count);
}
