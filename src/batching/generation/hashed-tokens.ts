/** Tokens in a block. vLLM's default. */
export const BLOCK_SIZE = 16;

/**
 * A list of token ids that grows. As in vLLM's prefix cache, the hash of a full block is chained with the one before, so it stands
 * for all tokens up to the end of the block. A hash is computed once, when it is first needed.
 */
export class HashedTokens {
  readonly #ids: number[];
  readonly #hashes: number[] = [];

  constructor(ids: readonly number[]) {
    this.#ids = [...ids];
  }

  get length(): number {
    return this.#ids.length;
  }

  push(tokenId: number): void {
    this.#ids.push(tokenId);
  }

  at(index: number): number | undefined {
    return this.#ids[index];
  }

  slice(start: number, end?: number): number[] {
    return this.#ids.slice(start, end);
  }

  /** Leading tokens that both have in common, among the first `end`. */
  numShared(other: HashedTokens, end = Math.min(this.length, other.length)): number {
    for (let index = 0; index < end; index++) if (this.#ids[index] !== other.#ids[index]) return index;
    return end;
  }

  /** False only if the first `numTokens` differ. True also for a hash collision. Both lists must have `numTokens` tokens. */
  mayShare(other: HashedTokens, numTokens: number): boolean {
    const numBlocks = Math.floor(numTokens / BLOCK_SIZE);
    if (this.#hashOf(numBlocks) !== other.#hashOf(numBlocks)) return false;
    for (let index = numBlocks * BLOCK_SIZE; index < numTokens; index++)
      if (this.#ids[index] !== other.#ids[index]) return false;
    return true;
  }

  /** Covers the first `numBlocks` blocks, all of them full. */
  #hashOf(numBlocks: number): number {
    for (let block = this.#hashes.length; block < numBlocks; block++) {
      let hash = this.#hashes[block - 1] ?? 0;
      const start = block * BLOCK_SIZE;
      for (let index = start; index < start + BLOCK_SIZE; index++)
        hash = chainedHash(hash, this.#ids[index] ?? 0);
      this.#hashes.push(hash);
    }
    return this.#hashes[numBlocks - 1] ?? 0;
  }
}

/** Mixes a token into the hash of the tokens before it, to 32 bits. */
export function chainedHash(hash: number, tokenId: number): number {
  const product = Math.imul(hash ^ tokenId, 0x9e3779b1);
  return product ^ (product >>> 15);
}
