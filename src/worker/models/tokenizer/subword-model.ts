/** Ids of a vocabulary's tokens. */
export type TokenIds = ReadonlyMap<string, number>;

/** Makes tokens of a word, as the pre-tokenizers cut it. */
export interface SubwordModel {
  /** Yields what it has cost since the last yield, in UTF-16 units. */
  tokenize(word: string): Generator<number, readonly number[]>;
}
