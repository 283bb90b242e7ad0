import { runToEnd } from '../../../platform/in-pieces.ts';
import { spellingOf } from '../../../batching/base/ordered-json.ts';
import { isRecord } from '../../../platform/is-record.ts';
import { ALL, anyJsonCharacter, jsonCharacterOf, type Ranges } from './character-set.ts';
import { CombinedLanguages } from './combined-languages.ts';
import type { Expression, Expressions } from './expressions.ts';
import type { Work } from './pace.ts';
import { parsePattern } from './parse-pattern.ts';
import { refusal } from './schema-parts.ts';
import type { States } from './states.ts';

// Json as Python writes it, with one space behind `,` and `:`: small models run away where white space is free. Numbers have at most
// 15 digits, so that each is exact in JavaScript, and none is infinite.

const INTEGER = String.raw`0|-?[1-9]\d{0,14}`;
const NUMBER = String.raw`-?(?:0|[1-9]\d{0,14})(?:\.\d{1,15})?(?:[eE][+\-]?\d{1,2})?`;

/** JSON, of which schemas take parts. */
export class JsonLanguage {
  readonly make: Expressions;
  readonly languages: CombinedLanguages;
  /** Any value. */
  readonly value: Expression;
  readonly integer: Expression;
  readonly number: Expression;
  /** A character between quotes, in any spelling. */
  readonly character: Expression;

  constructor(states: States) {
    const { make } = states;
    this.make = make;
    this.languages = new CombinedLanguages(states);
    this.character = anyJsonCharacter(make);
    this.integer = runToEnd(this.pattern(INTEGER, ''));
    this.number = runToEnd(this.pattern(NUMBER, ''));
    const value = make.rule('any JSON');
    this.value = value;
    value.body = make.choice([
      make.choice(['true', 'false', 'null'].map((text) => make.text(text))),
      this.number,
      this.string(make.repeat(this.character, 0, Infinity)),
      this.list('[', value, 0, Infinity, ']'),
      this.list(
        '{',
        this.member(this.string(make.repeat(this.character, 0, Infinity)), value),
        0,
        Infinity,
        '}',
      ),
    ]);
  }

  /** The JSON of a pattern's texts. @param isSearched Whether the pattern may match a part of them. */
  pattern(pattern: unknown, param: string, isSearched = false): Work<Expression> {
    return parsePattern(pattern, param, this.languages, (ranges) => this.characterOf(ranges), isSearched);
  }

  /** A character between quotes, in the spelling of `JSON.stringify`. */
  characterOf(ranges: Ranges = ALL): Expression {
    return jsonCharacterOf(this.make, ranges);
  }

  string(content: Expression): Expression {
    return this.make.sequence([this.make.text('"'), content, this.make.text('"')]);
  }

  /** @param key With its quotes. */
  member(key: Expression, value: Expression): Expression {
    return this.make.sequence([key, this.make.text(': '), value]);
  }

  list(open: string, part: Expression, min: number, max: number, close: string): Expression {
    const { make } = this;
    const further = make.repeat(make.sequence([make.text(', '), part]), Math.max(0, min - 1), max - 1);
    const some = make.sequence([part, further]);
    const parts = max === 0 ? make.empty : some;
    return make.sequence([make.text(open), min === 0 ? make.optional(parts) : parts, make.text(close)]);
  }
}

/**
 * A value's text, with each number as it was written.
 *
 * @param spelling Of the value, if it is a number whose text is known.
 * @throws ResponseFormatUnsupportedError.
 */
export function writeJson(value: unknown, param: string, spelling?: string): string {
  if (Array.isArray(value))
    return `[${value.map((entry, index) => writeJson(entry, param, spellingOf(value, index))).join(', ')}]`;
  if (isRecord(value)) {
    const members = Object.entries(value)
      .filter(([, entry]) => entry !== undefined)
      .map(([name, entry]) => `${JSON.stringify(name)}: ${writeJson(entry, param, spellingOf(value, name))}`);
    return `{${members.join(', ')}}`;
  }
  if (typeof value === 'number' && !Number.isFinite(value))
    throw refusal(param, `has a number that is too large (${spelling ?? value})`, 'write one below 1.8e308');
  return spelling ?? JSON.stringify(value);
}
