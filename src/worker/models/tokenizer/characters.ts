import {
  COMBINING_MARKS as COMBINING,
  NEWER as NEWER_CHARACTERS,
  NONSPACING_MARKS as NONSPACING,
  OPAQUE as OPAQUE_CHARACTERS,
  OTHER as OTHER_CHARACTERS,
  PUNCTUATION as PUNCTUATION_CHARACTERS,
} from './character-tables.ts';

// Classes of characters, as sources of regular expressions. JavaScript's own `\s`, `\w` and `\d` are others.

/** Rust's `char::is_whitespace`, and `\s` of its regular expressions. */
export const SPACE = String.raw`\p{White_Space}`;
/** Rust's `char::is_numeric`. */
export const NUMERIC = String.raw`\p{N}`;
/** In a class: `\w` of Oniguruma. */
export const WORD_CHARACTERS = String.raw`\p{Alphabetic}\p{M}\p{Nd}\p{Pc}`;
/** `\w` of Rust's regular expressions. */
export const RUST_WORD = String.raw`[${WORD_CHARACTERS}\p{Join_Control}]`;
export const PUNCTUATION = classOf(PUNCTUATION_CHARACTERS);
/** Control and format characters, and those of private use. */
export const OTHER = classOf(OTHER_CHARACTERS);
export const NONSPACING_MARK = classOf(NONSPACING);
export const COMBINING_MARK = classOf(COMBINING);

/** Characters that `tokenizers` doesn't know when it normalizes: each stays as it is, and nothing moves over it. */
const OPAQUE = new RegExp(`((?!${COMBINING_MARK})\\p{M}|${classOf(OPAQUE_CHARACTERS)})`, 'u');

const NEWER = new RegExp(classOf(NEWER_CHARACTERS), 'gu');

/**
 * The text as regular expressions of Unicode 16 see it. As long as the given one: characters that are newer are replaced by some
 * that will never be assigned.
 */
export function asInUnicode16(text: string): string {
  return text.replace(NEWER, (character) => {
    // It was a lowercase letter.
    if (character === '\u0295') return '\u0250';
    return character.length === 1 ? '\uFDD0' : '\u{1FFFE}';
  });
}

/** Unicode normalization as of `tokenizers`. */
export function normalizeUnicode(text: string, form: 'NFC' | 'NFD' | 'NFKC' | 'NFKD'): string {
  return text
    .split(OPAQUE)
    .map((part, index) => (index % 2 === 0 ? part.normalize(form) : part))
    .join('');
}

function classOf(table: string): string {
  let last = 0;
  const ranges = table.split(' ').map((entry) => {
    const [gap = '', length = '0'] = entry.split(',');
    const first = last + parseInt(gap, 36);
    last = first + parseInt(length, 36);
    return `\\u{${first.toString(16)}}-\\u{${last.toString(16)}}`;
  });
  return `[${ranges.join('')}]`;
}
