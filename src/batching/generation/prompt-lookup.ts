import { chainedHash, type HashedTokens } from './hashed-tokens.ts';

/** Tokens that have stood in the same order before: fewer are often alike by chance. */
const MATCH_LENGTH = 2;

/** Weight of the newest token in the rate of right guesses: some ten of them decide it. */
const NEWEST = 0.3;

/** Assumed before the first guess. */
const UNKNOWN_RATE = 0.5;

/**
 * Guesses the next tokens of a sequence: where its last tokens stand earlier in it, those that followed them there. What it would
 * have guessed is compared with what came, so its rate is known without a guess.
 */
export class PromptLookup {
  readonly #tokens: HashedTokens;
  readonly #firstOutput: number;
  /** By the hash of `MATCH_LENGTH` tokens: the place behind the last of them. */
  readonly #places = new Map<number, number>();
  /** Tokens that were read. */
  #length = 0;
  /** Where the next token is expected to stand already. */
  #place: number | undefined;
  #hitRate = UNKNOWN_RATE;

  /** @param firstOutput The tokens before are the prompt, which was not guessed. */
  constructor(tokens: HashedTokens, firstOutput: number) {
    this.#tokens = tokens;
    this.#firstOutput = firstOutput;
  }

  /** How likely the next guess is right, from 0 to 1. */
  get hitRate(): number {
    this.#readAll();
    return this.#hitRate;
  }

  /** The next tokens, so many; none if nothing is alike. Behind the last token, they go on as if they were there. */
  guess(numTokens: number): readonly number[] {
    this.#readAll();
    const place = this.#place;
    if (place === undefined) return [];
    const known = this.#tokens.slice(place, place + numTokens);
    return Array.from({ length: numTokens }, (_, index) => known[index % known.length] ?? 0);
  }

  #readAll(): void {
    for (; this.#length < this.#tokens.length; this.#length += 1) this.#read(this.#length);
  }

  #read(index: number): void {
    if (this.#place !== undefined) {
      const isHit = this.#tokens.at(this.#place) === this.#tokens.at(index);
      if (index >= this.#firstOutput) this.#hitRate += NEWEST * (Number(isHit) - this.#hitRate);
      this.#place = isHit ? this.#place + 1 : undefined;
    }
    if (index + 1 < MATCH_LENGTH) return;
    const hash = this.#hashBefore(index + 1);
    this.#place ??= this.#find(hash, index + 1);
    this.#places.set(hash, index + 1);
  }

  #find(hash: number, end: number): number | undefined {
    const place = this.#places.get(hash);
    if (place === undefined) return undefined;
    for (let back = 1; back <= MATCH_LENGTH; back++)
      if (this.#tokens.at(place - back) !== this.#tokens.at(end - back)) return undefined;
    return place;
  }

  /** Of the last tokens before `end`. */
  #hashBefore(end: number): number {
    let hash = 0;
    for (let index = end - MATCH_LENGTH; index < end; index++)
      hash = chainedHash(hash, this.#tokens.at(index) ?? 0);
    return hash;
  }
}
