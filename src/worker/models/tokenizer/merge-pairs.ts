/** How many pairs are looked up or merged between two yields. */
export const PAIRS_PER_PIECE = 2048;

interface Candidate {
  readonly rank: number;
  /** Where the pair begins, in symbols. */
  readonly left: number;
  readonly leftText: string;
  readonly rightText: string;
}

/**
 * Byte-pair encoding of one word, as the library's `BPE.bpe`, which can't be interrupted: a text without spaces is one
 * word. The pair of the lowest rank is merged first; of equal ones, the first.
 *
 * Yields the number of pairs since the last yield.
 *
 * @param ranks By the two texts as JSON, as the library keeps them.
 */
export function* mergePairs(word: string, ranks: ReadonlyMap<string, number>): Generator<number, string[]> {
  const texts: string[] = [];
  for (const character of word) if (texts.push(character) % PAIRS_PER_PIECE === 0) yield PAIRS_PER_PIECE;
  const { length } = texts;
  /** The neighbors of each symbol that is left; merged ones are empty. */
  const previous = new Int32Array(length);
  const next = new Int32Array(length);
  const queue = new CandidateQueue();
  const consider = (left: number): void => {
    const [leftText = '', rightText = ''] = [texts[left], texts[next[left] ?? length]];
    const rank = rightText && ranks.get(JSON.stringify([leftText, rightText]));
    if (typeof rank === 'number') queue.push({ rank, left, leftText, rightText });
  };
  for (let left = 0; left < length; left++) {
    previous[left] = left - 1;
    next[left] = left + 1;
    consider(left);
    if (left % PAIRS_PER_PIECE === 0) yield PAIRS_PER_PIECE;
  }
  for (let numTaken = 0, best = queue.pop(); best; best = queue.pop()) {
    if (++numTaken % PAIRS_PER_PIECE === 0) yield PAIRS_PER_PIECE;
    const { left, leftText, rightText } = best;
    const right = next[left] ?? length;
    // One of the two has been merged since.
    if (texts[left] !== leftText || texts[right] !== rightText) continue;
    texts[left] = leftText + rightText;
    texts[right] = '';
    const after = next[right] ?? length;
    next[left] = after;
    if (after < length) previous[after] = left;
    const before = previous[left] ?? -1;
    if (before >= 0) consider(before);
    consider(left);
  }
  return texts.filter((text) => text !== '');
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
