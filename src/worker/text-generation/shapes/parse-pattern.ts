import { ResponseFormatUnsupportedError } from '../../../batching/base/errors.ts';
import { ALL, complement, union, type Ranges } from './character-set.ts';
import type { CombinedLanguages } from './combined-languages.ts';
import type { Expression } from './expressions.ts';
import type { Work } from './pace.ts';
import { Scanner } from './scanner.ts';

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
/** Escapes under the flag `u`, but for properties and back references. */
const ESCAPE =
  /\\(?:x([\da-f]{2})|u\{([\da-f]+)\}|u([\da-f]{4}(?:(?<=d[89ab]..)\\ud[c-f][\da-f]{2})?)|c([a-z])|([dDwWsS])|([tnvfr0])|([^]))/iuy;
const COUNT = /([*+?])|\{(\d+)(?:(,)(\d*))?\}/uy;

/**
 * The texts that a pattern matches as a whole, or those that it matches somewhere in.
 *
 * @throws ResponseFormatUnsupportedError for a pattern that isn't regular, or looks ahead in the middle.
 */
export function* parsePattern(
  pattern: unknown,
  param: string,
  languages: CombinedLanguages,
  write: WriteCharacter,
  isSearched = false,
): Work<Expression> {
  const refuse = (reason: string, remedy: string): ResponseFormatUnsupportedError =>
    ResponseFormatUnsupportedError.of(param, reason, remedy);
  if (typeof pattern !== 'string') throw refuse('is not a string', 'write a regular expression');
  try {
    // oxlint-disable-next-line no-new -- only its syntax is checked
    new RegExp(pattern, 'u');
  } catch (error) {
    throw refuse(
      `is not a regular expression (${error instanceof Error ? error.message : ''})`,
      'correct it',
    );
  }
  const parser = new PatternParser(new Scanner(pattern, param), languages, write, isSearched);
  const expression = yield* parser.branches('whole');
  if (expression === languages.states.make.never) throw refuse('matches no text', 'correct it');
  return expression;
}

/** Parses a pattern whose syntax is right. */
class PatternParser {
  readonly #scanner: Scanner;
  readonly #languages: CombinedLanguages;
  readonly #write: WriteCharacter;
  readonly #isSearched: boolean;
  /** How often a part has been bound to the beginning of the text. */
  #numBound = 0;

  constructor(scanner: Scanner, languages: CombinedLanguages, write: WriteCharacter, isSearched: boolean) {
    this.#scanner = scanner;
    this.#languages = languages;
    this.#write = write;
    this.#isSearched = isSearched;
  }

  /** @param isAtStart Whether nothing of the text comes before. */
  *branches(place: Place, isAtStart = place === 'whole'): Work<Expression> {
    this.#scanner.enter();
    const branches = [];
    let count = 1;
    do {
      branches.push(yield* this.#branch(place, isAtStart));
      count = Math.max(count, this.#scanner.count);
    } while (this.#scanner.take('|'));
    this.#scanner.leave(count);
    return this.#languages.states.make.choice(branches);
  }

  *#branch(place: Place, mayBeAtStart: boolean): Work<Expression> {
    const scanner = this.#scanner;
    const { make } = this.#languages.states;
    const anything = make.repeat(this.#write(ALL), 0, Infinity);
    const parts: Expression[] = [];
    const isFree = place === 'whole' && this.#isSearched && scanner.next !== '^';
    if (isFree) parts.push(anything);
    const isAtEnd = place !== 'ahead' && place !== 'inside';
    let count = 1;
    while (!/^[|)]?$/.test(scanner.next)) {
      yield;
      const isAtStart = mayBeAtStart && parts.length === 0;
      if (isAtStart && scanner.take('^')) {
        this.#numBound += 1;
        continue;
      }
      const [, sign] = (isAtEnd && scanner.match(/\(\?([=!])/uy)) || [];
      if (sign !== undefined) {
        const ahead = yield* this.branches('ahead', isAtStart);
        scanner.take(')');
        const rest = yield* this.#branch(place === 'tail' ? place : 'rest', isAtStart);
        const [all, none] = sign === '=' ? [[rest, ahead], []] : [[rest], [ahead]];
        return make.sequence([...parts, yield* this.#languages.combine(all, none, scanner.param)]);
      }
      if (place !== 'inside' && /^\$(?:[|)]|$)/.test(scanner.text.slice(scanner.at, scanner.at + 2))) {
        scanner.at += 1;
        return make.sequence(parts);
      }
      parts.push(yield* this.#repeated(isAtEnd, isAtStart));
      count = Math.max(count, scanner.count);
    }
    // Groups inside each other are joined one by one.
    yield;
    scanner.count = count;
    if (place === 'ahead' || (place !== 'inside' && place !== 'tail' && this.#isSearched))
      parts.push(anything);
    return make.sequence(parts);
  }

  /** @param isAtEnd Whether the text may end behind it. */
  *#repeated(isAtEnd: boolean, isAtStart: boolean): Work<Expression> {
    const numBound = this.#numBound;
    const part = yield* this.#atom(isAtEnd, isAtStart);
    const repeats = this.#scanner.repeats(COUNT);
    if (!repeats) return part;
    if (this.#numBound > numBound && repeats.max > 1) throw this.#refuse('has an anchor inside');
    // A lazy one has the same texts.
    this.#scanner.take('?');
    return this.#languages.states.make.repeat(part, repeats.min, repeats.max);
  }

  *#atom(isAtEnd: boolean, isAtStart: boolean): Work<Expression> {
    const scanner = this.#scanner;
    scanner.count = 1;
    const isLast = isAtEnd && scanner.next === '(' && this.#isLastGroup();
    if (scanner.take('.')) return this.#write(complement(LINE_ENDS));
    if (scanner.take('[')) {
      const ranges = this.#class();
      yield;
      return this.#write(ranges);
    }
    if (scanner.match(/\((?:\?:|\?<\w+>|(?!\?))/uy)) {
      const group = yield* this.branches(isLast ? 'tail' : 'inside', isAtStart);
      scanner.take(')');
      return group;
    }
    const refused = [
      [/\(\?/uy, 'looks around in the middle, or changes flags'],
      [/[\^$]/uy, 'has an anchor inside'],
      [/\\[1-9k]/uy, 'refers back to a group'],
      [/\\b/iuy, 'has a word boundary'],
    ] as const;
    const reason = refused.find(([syntax]) => scanner.match(syntax))?.[1];
    if (reason !== undefined) throw this.#refuse(reason);
    return this.#write(this.#codes());
  }

  #refuse(reason: string): ResponseFormatUnsupportedError {
    return ResponseFormatUnsupportedError.of(
      this.#scanner.param,
      `can't be enforced: it ${reason}`,
      'write it without',
    );
  }

  /** Whether nothing comes behind the group that begins here, in its branch. */
  #isLastGroup(): boolean {
    const { text, at } = this.#scanner;
    let depth = 0;
    for (const { 0: part, index } of text.slice(at).matchAll(/\\[^]|\[(?:\\[^]|[^\]\\])*\]?|[()]/gu)) {
      if (part === '(') depth += 1;
      if (part === ')') depth -= 1;
      const behind = this.#isSearched ? /^\??\$(?:[|)]|$)/ : /^\??\$?(?:[|)]|$)/;
      if (depth === 0) return behind.test(text.slice(at + index + 1));
    }
    return false;
  }

  #class(): Ranges {
    const { isNegated, ranges } = this.#scanner.set(
      () => this.#codes(),
      // With the flag `u`, both ends are one character.
      (from, to) => (to ? [[from[0]?.[0] ?? 0, to[0]?.[1] ?? 0]] : from),
    );
    return isNegated ? complement(ranges) : union(ranges);
  }

  /** A character, or an escape. */
  #codes(): Ranges {
    const found = this.#scanner.match(ESCAPE);
    if (!found) {
      const code = this.#scanner.text.codePointAt(this.#scanner.at) ?? 0;
      this.#scanner.at += String.fromCodePoint(code).length;
      return rangesOf([code]);
    }
    const [, hex, wide, units, control, name = '', short, itself = ''] = found;
    const known = CLASSES.get(name);
    if (known) return known;
    if (/[pP]/.test(itself))
      throw ResponseFormatUnsupportedError.of(
        this.#scanner.param,
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
}
