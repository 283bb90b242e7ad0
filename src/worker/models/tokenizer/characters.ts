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
const NEWER_RANGES = rangesOf(NEWER_CHARACTERS);

/** Replacements for newer characters: a lowercase letter, and two that will never be assigned. */
const STAND_INS = ['\u0250', '\uFDD0', '\u{1FFFE}'] as const;

/** The text as regular expressions of Unicode 16 see it, as long as the given one. */
export function asInUnicode16(text: string): string {
  const [letter, short, long] = STAND_INS;
  return text.replace(NEWER, (character) => {
    if (character === '\u0295') return letter;
    return character.length === 1 ? short : long;
  });
}

/** Whether `asInUnicode16` changes none of these code points, and puts none of them into a text. */
export function areKnown(first: number, last: number): boolean {
  const standIns = STAND_INS.map((character) => character.codePointAt(0) ?? 0);
  return ![...NEWER_RANGES, ...standIns.map((one) => [one, one] as const)].some(
    ([from, to]) => first <= to && from <= last,
  );
}

/** Unicode normalization as of `tokenizers`. */
export function normalizeUnicode(text: string, form: 'NFC' | 'NFD' | 'NFKC' | 'NFKD'): string {
  return text
    .split(OPAQUE)
    .map((part, index) =>
      index % 2 === 0
        ? orderMarks(part, form === 'NFC' || form === 'NFD' ? 'NFD' : 'NFKD').normalize(form)
        : part,
    )
    .join('');
}

function classOf(table: string): string {
  return `[${rangesOf(table)
    .map(([first, last]) => `${hex(first)}-${hex(last)}`)
    .join('')}]`;
}

function hex(code: number): string {
  return `\\u{${code.toString(16)}}`;
}

function rangesOf(table: string): readonly (readonly [number, number])[] {
  let last = 0;
  return table.split(' ').map((entry) => {
    const [gap = '', length = '0'] = entry.split(',');
    const first = last + parseInt(gap, 36);
    last = first + parseInt(length, 36);
    return [first, last] as const;
  });
}

/** Half-width voiced marks decompose into combining ones. */
const LONG_RUN = /[^]?[\p{M}\uff9e\uff9f]{32,}/gu;

/**
 * Puts long runs of combining marks in the order that normalization gives them. Browsers take time that grows with the square of
 * a run whose marks are not in order.
 */
function orderMarks(text: string, form: 'NFD' | 'NFKD'): string {
  return text.replace(LONG_RUN, (run) => {
    const characters = Array.from(run).flatMap((character) => Array.from(character.normalize(form)));
    const classes = classesOf(new Set(characters));
    let ordered = '';
    let marks: string[] = [];
    const rankOf = (character: string) => classes.get(character) ?? 0;
    const flush = () => {
      ordered += marks.toSorted((a, b) => rankOf(a) - rankOf(b)).join('');
      marks = [];
    };
    for (const character of characters) {
      if (classes.has(character)) marks.push(character);
      else {
        flush();
        ordered += character;
      }
    }
    flush();
    return ordered;
  });
}

/** Numbers in the order of the marks' canonical combining classes, by mark. What nothing moves over has none. */
function classesOf(characters: ReadonlySet<string>): ReadonlyMap<string, number> {
  const marks = [...characters].filter(isMovable).toSorted((a, b) => {
    if (moves(b, a)) return -1;
    return moves(a, b) ? 1 : 0;
  });
  const classes = new Map<string, number>();
  let last = 0;
  for (const [index, mark] of marks.entries()) {
    if (moves(mark, marks[index - 1] ?? mark)) last += 1;
    classes.set(mark, last);
  }
  return classes;
}

/** Two marks of the lowest and the highest class. */
const [LOWEST, HIGHEST] = ['\u0334', '\u0345'] as const;

function isMovable(character: string): boolean {
  return moves(character, LOWEST) || moves(HIGHEST, character);
}

/** Whether the second of two decomposed characters goes before the first. */
function moves(first: string, second: string): boolean {
  return `${first}${second}`.normalize('NFD') !== first + second;
}
