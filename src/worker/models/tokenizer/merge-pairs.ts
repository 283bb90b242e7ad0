/** How many pairs are looked up or merged between two yields. */
export const PAIRS_PER_PIECE = 2048;

/** The token that two neighbors merge into. */
export interface Merge {
  /** Lower ones go first. */
  readonly rank: number;
  readonly id: number;
}

export type FindMerge = (leftId: number, rightId: number) => Merge | undefined;

interface Candidate extends Merge {
  /** Where the pair begins, in symbols. */
  readonly left: number;
}

const GONE = -1;

/**
 * Byte-pair encoding of one word, whose symbols are token ids. The pair of the lowest rank is merged first; of equal ones, the
 * first. Done in pieces, because a text without spaces is one word.
 *
 * Yields the number of pairs since the last yield.
 */
export function* mergePairs(symbols: readonly number[], findMerge: FindMerge): Generator<number, number[]> {
  const { length } = symbols;
  const ids = Int32Array.from(symbols);
  /** The neighbors of each symbol that is left. */
  const previous = new Int32Array(length);
  const next = new Int32Array(length);
  const queue = new CandidateQueue();
  const mergeAt = (left: number): Merge | undefined => {
    const right = next[left] ?? length;
    return right < length ? findMerge(ids[left] ?? GONE, ids[right] ?? GONE) : undefined;
  };
  const consider = (left: number): void => {
    const merge = mergeAt(left);
    if (merge) queue.push({ rank: merge.rank, id: merge.id, left });
  };
  for (let left = 0; left < length; left++) {
    previous[left] = left - 1;
    next[left] = left + 1;
  }
  for (let left = 0; left < length; left++) {
    consider(left);
    if ((left + 1) % PAIRS_PER_PIECE === 0) yield PAIRS_PER_PIECE;
  }
  for (let numTaken = 0, best = queue.pop(); best; best = queue.pop()) {
    if (++numTaken % PAIRS_PER_PIECE === 0) yield PAIRS_PER_PIECE;
    const { left, id } = best;
    // One of the two has been merged since.
    if (ids[left] === GONE || mergeAt(left)?.id !== id) continue;
    const right = next[left] ?? length;
    ids[left] = id;
    ids[right] = GONE;
    const after = next[right] ?? length;
    next[left] = after;
    if (after < length) previous[after] = left;
    const before = previous[left] ?? -1;
    if (before >= 0) consider(before);
    consider(left);
  }
  return Array.from(ids.filter((id) => id !== GONE));
}

/** A binary heap: the children of entry `i` are `2i + 1` and `2i + 2`, and none goes before its parent. */
class CandidateQueue {
  readonly #heap: Candidate[] = [];

  push(candidate: Candidate): void {
    const heap = this.#heap;
    let index = heap.length;
    for (let parent = (index - 1) >> 1; index > 0; parent = (index - 1) >> 1) {
      const above = heap[parent];
      if (!above || !goesBefore(candidate, above)) break;
      heap[index] = above;
      index = parent;
    }
    heap[index] = candidate;
  }

  pop(): Candidate | undefined {
    const heap = this.#heap;
    const first = heap[0];
    const last = heap.pop();
    if (!last || heap.length === 0) return first;
    let index = 0;
    for (;;) {
      const [one, other] = [2 * index + 1, 2 * index + 2];
      const [left, right] = [heap[one], heap[other]];
      const child = left && right && goesBefore(right, left) ? other : one;
      const below = heap[child];
      if (!below || !goesBefore(below, last)) break;
      heap[index] = below;
      index = child;
    }
    heap[index] = last;
    return first;
  }
}

function goesBefore(a: Candidate, b: Candidate): boolean {
  return a.rank < b.rank || (a.rank === b.rank && a.left < b.left);
}
