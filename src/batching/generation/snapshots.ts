import type { HashedTokens } from './hashed-tokens.ts';
import type { CachedPrefix } from './prefix-cache.ts';

interface Snapshot {
  readonly tokens: HashedTokens;
  /** How many of these it has read. */
  readonly length: number;
  /** The value of `#numUses` at its last use. */
  lastUse: number;
}

/**
 * The runner's copies of fixed state, each in a place of its own. A snapshot belongs to the tokens that it has read, not to a row: any row
 * that begins with these has the K/V that go with it. The least recently used one is replaced.
 */
export class Snapshots {
  /** By place. */
  readonly #all: Snapshot[] = [];
  #numUses = 0;

  /** The one that has read the most of the first `maxLength` of these tokens, and no other token. */
  longest(tokens: HashedTokens, maxLength: number): Omit<CachedPrefix, 'slot'> | undefined {
    let longest: Omit<CachedPrefix, 'slot'> | undefined;
    for (const [snapshot, { tokens: read, length }] of this.#all.entries()) {
      if (length > maxLength || length <= (longest?.length ?? 0) || !read.mayShare(tokens, length)) continue;
      if (read.numShared(tokens, length) === length) longest = { length, snapshot };
    }
    return longest;
  }

  use(place: number): void {
    const snapshot = this.#all[place];
    if (snapshot) snapshot.lastUse = this.#nextUse();
  }

  /** Returns the place of the new one. `numPlaces` is at least 1. */
  take(tokens: HashedTokens, length: number, numPlaces: number): number {
    const lastUses = this.#all.map(({ lastUse }) => lastUse);
    const place = lastUses.length < numPlaces ? lastUses.length : lastUses.indexOf(Math.min(...lastUses));
    this.#all[place] = { tokens, length, lastUse: this.#nextUse() };
    return place;
  }

  truncate(numPlaces: number): void {
    this.#all.splice(numPlaces);
  }

  #nextUse(): number {
    this.#numUses += 1;
    return this.#numUses;
  }
}
