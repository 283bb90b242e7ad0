import { ResponseFormatUnsupportedError } from '../../../batching/errors.ts';
import { forbidToken, isAllowed, type TokenMask } from '../../../batching/sampling/token-mask.ts';

// In a grammar each character that is counted is a state, and the library compiles each state for the whole vocabulary: 0.1 s for
// 150,000 tokens. So strings stand there without their lengths. Marks, which no text has, are allowed inside them: the tokens that
// stand for marks tell which lengths hold where a text is.

/** Of a string of JSON, in characters (code points) between its quotes. */
export interface StringLength {
  readonly min: number;
  readonly max: number;
}

export const NUM_MARKS = 64;

/** Stands for no length. Where it is allowed, any characters are: in free text around a tag. */
const FREE_MARK = NUM_MARKS - 1;

/** Lengths that one shape can have. */
const MAX_LENGTHS = FREE_MARK;

/** A mark, two bytes from 1 to 8: no string of JSON has such characters. Its token follows those of the vocabulary. */
export function markOf(index: number): Uint8Array {
  return Uint8Array.of(1 + (index >> 3), 1 + (index & 7));
}

const LAST_OF_MARKS = 8;
const QUOTE = 0x22;

/** The different lengths of a shape, in the order of their marks. */
export class StringLengths {
  readonly all: StringLength[] = [];

  /**
   * A constant that stands for a string of this length until the grammar is printed.
   *
   * @throws ResponseFormatUnsupportedError.
   */
  markerOf({ min, max }: StringLength): string {
    const known = this.all.findIndex((other) => other.min === min && other.max === max);
    const index = known < 0 ? this.all.push({ min, max }) - 1 : known;
    if (index >= MAX_LENGTHS)
      throw ResponseFormatUnsupportedError.of(
        'responseFormat',
        `has strings of more than ${MAX_LENGTHS} different lengths`,
        'use the same length for more of them',
      );
    return `characters of length ${index}`;
  }
}

const MARKER = /"\\"characters of length (\d+)\\""/g;

const CHARACTERS = String.raw`[^\0-\x1f\"\\]*`;

/** The printed grammar of a schema with strings in place of their markers: of any length, with marks. */
export function withStrings(printed: string): string {
  return printed.replaceAll(MARKER, (_, index) => {
    const mark = Array.from(markOf(Number(index)), (byte) => `\\x0${byte}`).join('');
    return String.raw`"\"" ${CHARACTERS} ("${mark}" ${CHARACTERS})* "\""`;
  });
}

/** How many characters a vocabulary's tokens have. */
export class TokenCharacters {
  /** Tokens without a quote, by how many they have. */
  readonly plain: number[][] = [];
  /** The others: how many before the first quote, between the quotes, and behind the last. */
  readonly quoted = new Map<number, readonly number[]>();
  /** They begin as marks do. */
  readonly marked: number[] = [];

  add(tokenId: number, bytes: Uint8Array): void {
    const counts = countCharacters(bytes);
    const [count = 0] = counts;
    if (counts.length > 1) this.quoted.set(tokenId, counts);
    else (this.plain[count] ??= []).push(tokenId);
    const [first = 0] = bytes;
    if (first > 0 && first <= LAST_OF_MARKS) this.marked.push(tokenId);
  }
}

/** Before the first quote, between the quotes, and behind the last. Bytes within a character begin with the bits 10. */
function countCharacters(bytes: Uint8Array): readonly number[] {
  const counts = [0];
  for (const byte of bytes)
    if (byte === QUOTE) counts.push(0);
    else if ((byte & 0xc0) !== 0x80) counts.push((counts.pop() ?? 0) + 1);
  return counts;
}

/** Keeps the strings of one text to their lengths. */
export class StringCounter {
  readonly #lengths: readonly StringLength[];
  readonly #characters: TokenCharacters;
  readonly #vocabSize: number;
  /** Of all strings: what a token opens may be any of them. */
  readonly #any: StringLength;
  /** Characters since the last quote. */
  #count = 0;
  /** Of the string that the text is inside of; undefined where there is none, or one of any length, or where nobody has looked yet. */
  #length: StringLength | undefined;
  /** In free text around a tag. */
  #isFree = false;

  constructor(lengths: readonly StringLength[], characters: TokenCharacters, vocabSize: number) {
    this.#lengths = lengths;
    this.#characters = characters;
    this.#vocabSize = vocabSize;
    this.#any = inAll(lengths);
  }

  /**
   * Whether the text may go on with these bytes. What follows the quote that ends a string is no string's; else a quote may begin one, or
   * end one that has no length.
   */
  fits(bytes: Uint8Array): boolean {
    return this.#fit(countCharacters(bytes));
  }

  add(bytes: Uint8Array): void {
    const [before = 0, ...others] = countCharacters(bytes);
    this.#count = others.at(-1) ?? this.#count + before;
    if (others.length > 0) this.#length = undefined;
  }

  /**
   * Finds where the text is, and forbids the tokens that don't fit there.
   *
   * @param allowed The tokens that the grammar allows, those of the marks included.
   * @throws ResponseFormatUnsupportedError.
   */
  restrict(allowed: TokenMask): void {
    const isMarked = (mark: number): boolean => isAllowed(allowed, this.#vocabSize + mark);
    this.#isFree = isMarked(FREE_MARK);
    this.#length = undefined;
    if (this.#isFree) return;
    const lengths = this.#lengths.filter((_, mark) => isMarked(mark));
    if (lengths.length > 0) this.#length = inAll(lengths);
    if (this.#length && this.#length.min > this.#length.max)
      throw ResponseFormatUnsupportedError.of(
        'responseFormat',
        'has alternatives whose strings have no length in common',
        'give them lengths that overlap',
      );
    const { plain, quoted, marked } = this.#characters;
    for (const tokenId of marked) forbidToken(allowed, tokenId);
    for (const [tokenId, counts] of quoted) if (!this.#fit(counts)) forbidToken(allowed, tokenId);
    const longest = this.#length ? this.#length.max - this.#count : Infinity;
    for (let count = plain.length - 1; count > longest; count -= 1)
      for (const tokenId of plain[count] ?? []) forbidToken(allowed, tokenId);
  }

  #fit([before = 0, ...others]: readonly number[]): boolean {
    if (this.#isFree) return true;
    const { min, max } = this.#length ?? { min: 0, max: Infinity };
    const count = this.#count + before;
    if (count > max || (others.length > 0 && count < min)) return false;
    const inStrings = this.#length ? others.slice(1) : others;
    return inStrings.every(
      (each, index) => each <= this.#any.max && (each >= this.#any.min || index === inStrings.length - 1),
    );
  }
}

/** The lengths that are in all of these. */
function inAll(lengths: readonly StringLength[]): StringLength {
  return {
    min: Math.max(...lengths.map(({ min }) => min)),
    max: Math.min(...lengths.map(({ max }) => max)),
  };
}
