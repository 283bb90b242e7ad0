import { ResponseFormatUnsupportedError } from '../../../batching/errors.ts';
import { ALL, complement, union, type Ranges } from './character-set.ts';
import type { CombinedLanguages } from './combined-languages.ts';
import type { Expression } from './expressions.ts';
import { checkDepth, nestedCount } from './limits.ts';

/** How the characters of a pattern's texts are written: as they are, or in JSON. */
export type WriteCharacter = (ranges: Ranges) => Expression;

/** Where a part of a pattern stands: it is all of it, all behind a place, a group that ends the text, looks ahead, or none of these. */
type Place = 'whole' | 'rest' | 'tail' | 'ahead' | 'inside';

const rangesOf = (codes: readonly number[]): Ranges => codes.map((code) => [code, code]);

const DIGITS: Ranges = [[0x30, 0x39]];
const WORD = union([...DIGITS, [0x41, 0x5a], [0x5f, 0x5f], [0x61, 0x7a]]);
const LINE_ENDS = rangesOf([0x0a, 0x0d, 0x2028, 0x2029]);
const SPACES = union([
  ...LINE_ENDS,
  ...rangesOf([0x20, 0xa0, 0x1680, 0x202f, 0x205f, 0x3000, 0xfeff]),
  [0x09, 0x0c],
  [0x2000, 0x200a],
]);
const CLASSES: ReadonlyMap<string, Ranges> = new Map([
  ['d', DIGITS],
  ['D', complement(DIGITS)],
  ['w', WORD],
  ['W', complement(WORD)],
  ['s', SPACES],
  ['S', complement(SPACES)],
]);
const CONTROLS: ReadonlyMap<string, number> = new Map([
  ['t', 9],
  ['n', 10],
  ['v', 11],
  ['f', 12],
  ['r', 13],
  ['0', 0],
]);
/** Of the flag `u`, without properties and what refers back. */
const ESCAPE =
  /\\(?:x([\da-f]{2})|u\{([\da-f]+)\}|u([\da-f]{4}(?:(?<=d[89ab]..)\\ud[c-f][\da-f]{2})?)|c([a-z])|([dDwWsS])|([tnvfr0])|([^]))/iuy;
const COUNT = /([*+?])|\{(\d+)(?:(,)(\d*))?\}/uy;

/**
 * The texts that a pattern matches as a whole, or those that it matches somewhere in.
 *
 * @throws ResponseFormatUnsupportedError for what is no regular language, or looks ahead in the middle.
 */
export function parsePattern(
  pattern: unknown,
  param: string,
  languages: CombinedLanguages,
  write: WriteCharacter,
  isSearched = false,
): Expression {
  const refuse = (reason: string, remedy: string): ResponseFormatUnsupportedError =>
    ResponseFormatUnsupportedError.of(param, reason, remedy);
  if (typeof pattern !== 'string') throw refuse('is no string', 'write a regular expression');
  try {
    // oxlint-disable-next-line no-new -- only its syntax is checked
    new RegExp(pattern, 'u');
  } catch (error) {
    throw refuse(`is no regular expression (${error instanceof Error ? error.message : ''})`, 'correct it');
  }
  const expression = new PatternParser(pattern, param, languages, write, isSearched).parse();
  if (expression === languages.states.make.never) throw refuse('matches no text', 'correct it');
  return expression;
}

/** Of a pattern whose syntax is right. */
class PatternParser {
  readonly #pattern: string;
  readonly #param: string;
  readonly #languages: CombinedLanguages;
  readonly #write: WriteCharacter;
  readonly #isSearched: boolean;
  #at = 0;
  #depth = 0;
  /** Of the part that was read last. */
  #count = 1;

  constructor(
    pattern: string,
    param: string,
    languages: CombinedLanguages,
    write: WriteCharacter,
    isSearched: boolean,
  ) {
    this.#isSearched = isSearched;
    this.#pattern = pattern;
    this.#param = param;
    this.#languages = languages;
    this.#write = write;
  }

  parse(): Expression {
    return this.#branches('whole');
  }

  #branches(place: Place): Expression {
    checkDepth((this.#depth += 1), this.#param);
    const branches = [];
    let count = 1;
    do {
      branches.push(this.#branch(place));
      count = Math.max(count, this.#count);
    } while (this.#take('|'));
    this.#depth -= 1;
    this.#count = count;
    return this.#languages.states.make.choice(branches);
  }

  #branch(place: Place): Expression {
    const { make } = this.#languages.states;
    const anything = make.repeat(this.#write(ALL), 0, Infinity);
    const parts: Expression[] = [];
    if (place === 'whole' && !this.#take('^') && this.#isSearched) parts.push(anything);
    const isAtEnd = place !== 'ahead' && place !== 'inside';
    let count = 1;
    while (!/^[|)]?$/.test(this.#next())) {
      const [, sign] = (isAtEnd && this.#match(/\(\?([=!])/uy)) || [];
      if (sign !== undefined) {
        const ahead = this.#branches('ahead');
        this.#take(')');
        const rest = this.#branch(place === 'tail' ? place : 'rest');
        const [all, none] = sign === '=' ? [[rest, ahead], []] : [[rest], [ahead]];
        return make.sequence([...parts, this.#languages.combine(all, none, this.#param)]);
      }
      if (place !== 'inside' && /^\$(?:[|)]|$)/.test(this.#pattern.slice(this.#at, this.#at + 2))) {
        this.#at += 1;
        return make.sequence(parts);
      }
      parts.push(this.#repeated(isAtEnd));
      count = Math.max(count, this.#count);
    }
    this.#count = count;
    if (place === 'ahead' || (place !== 'inside' && place !== 'tail' && this.#isSearched))
      parts.push(anything);
    return make.sequence(parts);
  }

  /** @param isAtEnd Whether the text may end behind it. */
  #repeated(isAtEnd: boolean): Expression {
    const part = this.#atom(isAtEnd);
    const found = this.#match(COUNT);
    if (!found) return part;
    // A lazy one has the same texts.
    this.#take('?');
    const [, sign, from, comma, to] = found;
    const min = sign === undefined ? Number(from) : Number(sign === '+');
    const most = comma === undefined ? min : Infinity;
    const max = sign === undefined ? Number(to === undefined || to === '' ? most : to) : Infinity;
    const limit = sign === '?' ? 1 : max;
    this.#count = nestedCount(this.#count, min, limit, this.#param);
    return this.#languages.states.make.repeat(part, min, limit);
  }

  #atom(isAtEnd: boolean): Expression {
    this.#count = 1;
    const isLast = isAtEnd && this.#next() === '(' && this.#isLastGroup();
    if (this.#take('.')) return this.#write(complement(LINE_ENDS));
    if (this.#take('[')) return this.#write(this.#class());
    if (this.#match(/\((?:\?:|\?<\w+>|(?!\?))/uy)) {
      const group = this.#branches(isLast ? 'tail' : 'inside');
      this.#take(')');
      return group;
    }
    const refused = [
      [/\(\?/uy, 'looks around in the middle, or changes flags'],
      [/[\^$]/uy, 'has an anchor inside'],
      [/\\[1-9k]/uy, 'refers back to a group'],
      [/\\b/iuy, 'has a word boundary'],
    ] as const;
    const reason = refused.find(([syntax]) => this.#match(syntax))?.[1];
    if (reason !== undefined)
      throw ResponseFormatUnsupportedError.of(
        this.#param,
        `can't be enforced: it ${reason}`,
        'write it without',
      );
    return this.#write(this.#codes());
  }

  /** Whether nothing comes behind the group that begins here, in its branch. */
  #isLastGroup(): boolean {
    let depth = 0;
    for (const { 0: part, index } of this.#pattern
      .slice(this.#at)
      .matchAll(/\\[^]|\[(?:\\[^]|[^\]\\])*\]?|[()]/gu)) {
      if (part === '(') depth += 1;
      if (part === ')') depth -= 1;
      const behind = this.#isSearched ? /^\??\$(?:[|)]|$)/ : /^\??\$?(?:[|)]|$)/;
      if (depth === 0) return behind.test(this.#pattern.slice(this.#at + index + 1));
    }
    return false;
  }

  /** Behind its bracket. */
  #class(): Ranges {
    const isNegated = this.#take('^');
    const ranges: (readonly [number, number])[] = [];
    while (!this.#take(']')) {
      const from = this.#codes();
      const isSpan = this.#next() === '-' && this.#pattern[this.#at + 1] !== ']';
      if (isSpan && this.#take('-')) {
        const to = this.#codes();
        // With the flag `u`, both are one character.
        ranges.push([from[0]?.[0] ?? 0, to[0]?.[1] ?? 0]);
      } else ranges.push(...from);
    }
    return isNegated ? complement(ranges) : union(ranges);
  }

  /** A character, or an escape. */
  #codes(): Ranges {
    const found = this.#match(ESCAPE);
    if (!found) {
      const code = this.#pattern.codePointAt(this.#at) ?? 0;
      this.#at += String.fromCodePoint(code).length;
      return rangesOf([code]);
    }
    const [, hex, wide, units, control, name = '', short, itself = ''] = found;
    const known = CLASSES.get(name);
    if (known) return known;
    if (/[pP]/.test(itself))
      throw ResponseFormatUnsupportedError.of(
        this.#param,
        "can't be enforced: it has a property of characters",
        'list the characters',
      );
    if (hex !== undefined || wide !== undefined) return rangesOf([parseInt(hex ?? wide ?? '', 16)]);
    if (units !== undefined) {
      const text = units.split(String.raw`\u`).map((unit) => String.fromCharCode(parseInt(unit, 16)));
      return rangesOf([text.join('').codePointAt(0) ?? 0]);
    }
    if (control !== undefined) return rangesOf([control.charCodeAt(0) % 32]);
    // `\b` in a class is a backspace.
    const isBackspace = itself === 'b';
    return rangesOf([CONTROLS.get(short ?? '') ?? (isBackspace ? 8 : (itself.codePointAt(0) ?? 0))]);
  }

  #next(): string {
    return this.#pattern[this.#at] ?? '';
  }

  #take(text: string): boolean {
    const isNext = this.#pattern.startsWith(text, this.#at);
    if (isNext) this.#at += text.length;
    return isNext;
  }

  /** @param syntax Sticky. */
  #match(syntax: RegExp): RegExpExecArray | null {
    syntax.lastIndex = this.#at;
    const found = syntax.exec(this.#pattern);
    if (found) this.#at = syntax.lastIndex;
    return found;
  }
}
