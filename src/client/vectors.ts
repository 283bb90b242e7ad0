import { InvalidOptionError, wrongArgument } from '../batching/base/errors.ts';
import { integerOrInfinityIn } from '../batching/base/validate.ts';

/** A vector among others, by how near it is to a query. */
export interface Nearest {
  /** Its place among the vectors. */
  readonly index: number;
  /** The cosine of the angle between them, from -1 to 1. */
  readonly score: number;
}

/**
 * The cosine of the angle between two vectors of one length, from -1 to 1; 0 where one has only zeros.
 *
 * @throws InvalidOptionError for vectors of several lengths, and for what is no list of finite numbers.
 */
export function cosineSimilarity(one: ArrayLike<number>, other: ArrayLike<number>): number {
  checkVector('one', one, COMPARING);
  checkVector('other', other, COMPARING);
  return cosineOf(one, other, 'other');
}

/**
 * The vectors that are nearest to a query, best first. Equal ones keep their order.
 *
 * @param count How many of them; Infinity for all.
 * @throws InvalidOptionError for a vector of another length than the query, for what is no list of finite numbers, and for another count.
 */
export function topK(
  query: ArrayLike<number>,
  vectors: readonly ArrayLike<number>[],
  count: number,
): readonly Nearest[] {
  checkVector('query', query, FINDING);
  if (!Array.isArray(vectors)) throw wrongArgument('vectors', 'a list of vectors', FINDING, vectors);
  isCount('count', count);
  const scored = Array.from(vectors, (vector, index) => {
    const name = `vectors[${index}]`;
    checkVector(name, vector, FINDING);
    return { index, score: cosineOf(query, vector, name) };
  });
  return scored.toSorted((a, b) => b.score - a.score).slice(0, count);
}

const isCount = /* @__PURE__ */ integerOrInfinityIn({ from: 0 });

const COMPARING = 'cosineSimilarity';
const FINDING = 'topK';

function checkVector(name: string, vector: unknown, called: string): asserts vector is ArrayLike<number> {
  if (!isList(vector)) throw wrongArgument(name, 'a list of numbers', called, vector);
  for (let at = 0; at < vector.length; at += 1) {
    const value = vector[at];
    if (!Number.isFinite(value)) throw InvalidOptionError.of(`${name}[${at}]`, 'a finite number', value);
  }
}

function isList(vector: unknown): vector is ArrayLike<unknown> {
  return Array.isArray(vector) || (ArrayBuffer.isView(vector) && 'length' in vector);
}

/** @param name Of the other one. */
function cosineOf(one: ArrayLike<number>, other: ArrayLike<number>, name: string): number {
  if (one.length !== other.length)
    throw InvalidOptionError.of(
      name,
      `of ${one.length} numbers, as the vector it is compared with`,
      other.length,
    );
  const score = scaledCosineOf(one, other, 1, 1);
  // The squares of very large or small numbers are beyond a double, but not those of the parts of the largest.
  return Number.isNaN(score) ? scaledCosineOf(one, other, largestIn(one), largestIn(other)) : score;
}

/** NaN where squares are beyond a double. */
function scaledCosineOf(
  one: ArrayLike<number>,
  other: ArrayLike<number>,
  scaleOfOne: number,
  scaleOfOther: number,
): number {
  let [product, ofOne, ofOther] = [0, 0, 0];
  for (let at = 0; at < one.length; at += 1) {
    const x = (one[at] ?? 0) / scaleOfOne;
    const y = (other[at] ?? 0) / scaleOfOther;
    product += x * y;
    ofOne += x * x;
    ofOther += y * y;
  }
  const squares = ofOne * ofOther;
  if (Math.min(ofOne, ofOther, squares) > SMALLEST && squares < Infinity) return product / Math.sqrt(squares);
  return scaleOfOne === 0 || scaleOfOther === 0 ? 0 : Number.NaN;
}

/** A smaller square has lost digits. */
const SMALLEST = 1e-290;

function largestIn(vector: ArrayLike<number>): number {
  let largest = 0;
  for (let at = 0; at < vector.length; at += 1) largest = Math.max(largest, Math.abs(vector[at] ?? 0));
  return largest;
}
