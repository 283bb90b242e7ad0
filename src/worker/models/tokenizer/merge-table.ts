import type { Merge } from './merge-pairs.ts';

/** At most half of the places are taken, so that a free one is near. */
const PLACES_PER_MERGE = 2;

/** Odd, with bits that look random. */
const [LEFT_FACTOR, RIGHT_FACTOR] = [0x9e3779b1, 0x85ebca6b];

/**
 * Merges by the pairs of tokens that they merge: a hash table in arrays, with open addressing. Fifty thousand entries of a `Map` took twice as
 * long to fill.
 */
export class MergeTable {
  static readonly MAX_ID = 2 ** 31 - 1;

  readonly #lefts: Int32Array;
  readonly #rights: Int32Array;
  readonly #ranks: Int32Array;
  /** One more than each merged token, so that 0 marks a free place. */
  readonly #ids: Uint32Array;
  readonly #mask: number;

  /** @param maxMerges How many are added at most. */
  constructor(maxMerges: number) {
    let numPlaces = 1;
    while (numPlaces < PLACES_PER_MERGE * maxMerges) numPlaces *= 2;
    this.#mask = numPlaces - 1;
    this.#lefts = new Int32Array(numPlaces);
    this.#rights = new Int32Array(numPlaces);
    this.#ranks = new Int32Array(numPlaces);
    this.#ids = new Uint32Array(numPlaces);
  }

  /** Of the same pair, the last one counts. Ids are from 0 to `MAX_ID`. */
  add(left: number, right: number, rank: number, id: number): void {
    const place = this.#placeOf(left, right);
    this.#lefts[place] = left;
    this.#rights[place] = right;
    this.#ranks[place] = rank;
    this.#ids[place] = id + 1;
  }

  find(left: number, right: number): Merge | undefined {
    const place = this.#placeOf(left, right);
    const next = this.#ids[place] ?? 0;
    return next === 0 ? undefined : { rank: this.#ranks[place] ?? 0, id: next - 1 };
  }

  /** Where the pair is, or would be. */
  #placeOf(left: number, right: number): number {
    let hash = Math.imul(left, LEFT_FACTOR) ^ Math.imul(right, RIGHT_FACTOR);
    hash ^= hash >>> 16;
    for (let place = hash & this.#mask; ; place = (place + 1) & this.#mask) {
      const isFree = this.#ids[place] === 0;
      if (isFree || (this.#lefts[place] === left && this.#rights[place] === right)) return place;
    }
  }
}
