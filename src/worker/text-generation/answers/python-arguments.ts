import { readPieces, type ArgumentsReader } from './arguments-reader.ts';
import { escaped, wholeLength } from './json-escapes.ts';

// LFM2 writes a call as Python: `f(city="Rome", days=3)`. JSON's words and strings are read, too.

const WORDS: ReadonlyMap<string, string> = new Map([
  ['True', 'true'],
  ['False', 'false'],
  ['None', 'null'],
]);

/** By what opens them: what closes them, and both in JSON. A tuple is a list. */
const BRACKETS: ReadonlyMap<string, Bracket> = new Map([
  ['[', { close: ']', begin: '[', end: ']' }],
  ['(', { close: ')', begin: '[', end: ']' }],
  ['{', { close: '}', begin: '{', end: '}' }],
]);
const ROOT: Bracket = { close: ')', begin: '{', end: '}' };

const ESCAPES: ReadonlyMap<string, string> = new Map([
  ['n', '\n'],
  ['t', '\t'],
  ['r', '\r'],
  ['b', '\b'],
  ['f', '\f'],
  ['v', '\v'],
  ['a', '\u0007'],
  ['0', '\0'],
  ['\n', ''],
  ...['\\', "'", '"', '/'].map((same) => [same, same] as const),
]);
/** Digits of an escape by number. */
const DIGITS: ReadonlyMap<string, number> = new Map([
  ['x', 2],
  ['u', 4],
  ['U', 8],
]);

/** Schemas have names that Python hasn't. */
const NAME = /^([^=,()[\]{}'"]+)=(?!=)/;
const BEGUN_NAME = /^[^=,()[\]{}'"]+=?$/;
const WORD = /^[^\s,:()[\]{}'"]+(?=[\s,:()[\]{}'"])/;
const NUMBER = /^[+-]?(?:(?:0|[1-9][\d_]*)(?:\.[\d_]*)?|\.\d[\d_]*)(?:[eE][+-]?\d+)?$/;
const JSON_NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

interface Bracket {
  readonly close: string;
  readonly begin: string;
  readonly end: string;
}

/** Turns keyword arguments into JSON, from behind their opening bracket on. */
export class PythonArguments implements ArgumentsReader {
  #held = '';
  #mode: 'item' | 'string' | 'behind' | 'broken' = 'item';
  readonly #open: Bracket[] = [];
  #quote = '';
  /** The next string is a key of a dictionary. */
  #isKey = false;
  #separator = '';

  push(text: string): ReturnType<ArgumentsReader['push']> {
    this.#held += text;
    const begin = this.#open.length === 0 ? ROOT.begin : '';
    if (begin !== '') this.#open.push(ROOT);
    const { json, ...behind } = readPieces(
      () => this.#read(),
      () => (this.#open.length === 0 || this.#mode === 'broken' ? this.#held : undefined),
    );
    return { json: begin + json, ...behind };
  }

  /** The next piece of JSON; undefined until more text comes. */
  #read(): string | undefined {
    if (this.#mode === 'string') return this.#readString();
    this.#held = this.#held.trimStart();
    if (this.#held === '') return undefined;
    const bracket = this.#open.at(-1);
    if (bracket && this.#held.startsWith(bracket.close) && this.#separator !== ':') {
      this.#open.pop();
      return this.#take(1, bracket.end, 'behind');
    }
    if (this.#mode === 'behind') return this.#readSeparator();
    return bracket === ROOT && this.#separator !== ':' ? this.#readName() : this.#readValue(bracket);
  }

  #readSeparator(): string | undefined {
    const mark = this.#held.charAt(0);
    if (mark !== ',' && !(mark === ':' && this.#isKey)) return this.#take(0, '', 'broken');
    this.#separator = mark;
    this.#isKey = false;
    return this.#take(1, '', 'item');
  }

  /** A name and its value are `a=1`, where JSON has `"a":1`. */
  #readName(): string | undefined {
    const [whole, name = ''] = NAME.exec(this.#held) ?? [];
    // The character after the equals sign tells it from a comparison.
    if (whole === undefined || whole.length === this.#held.length)
      return BEGUN_NAME.test(this.#held) ? undefined : this.#take(0, '', 'broken');
    const json = `${this.#separated()}${JSON.stringify(name.trimEnd())}`;
    this.#separator = ':';
    return this.#take(whole.length, json, 'item');
  }

  #readValue(bracket: Bracket | undefined): string | undefined {
    const held = this.#held;
    const inner = BRACKETS.get(held.charAt(0));
    if (inner) {
      this.#open.push(inner);
      return this.#take(1, `${this.#separated()}${inner.begin}`, 'item');
    }
    const [quotes] = /^"{1,3}|^'{1,3}/.exec(held) ?? [];
    if (quotes !== undefined) {
      // Two of them are an empty string, or the first two of three.
      if (quotes.length < 3 && quotes.length === held.length) return undefined;
      this.#quote = quotes.length === 3 ? quotes : quotes.charAt(0);
      this.#isKey = bracket?.close === '}' && this.#separator !== ':';
      return this.#take(this.#quote.length, `${this.#separated()}"`, 'string');
    }
    const [word] = WORD.exec(held) ?? [];
    if (word === undefined) return /^[^\s,:()[\]{}'"]+$/.test(held) ? undefined : this.#take(0, '', 'broken');
    this.#isKey = bracket?.close === '}' && this.#separator !== ':';
    const json = wordInJson(word);
    return this.#take(word.length, `${this.#separated()}${this.#isKey ? asKey(json) : json}`, 'behind');
  }

  #readString(): string | undefined {
    const held = this.#held;
    if (held === '') return undefined;
    if (held.startsWith(this.#quote)) return this.#take(this.#quote.length, '"', 'behind');
    // One of three quotes may come alone.
    if (this.#quote.startsWith(held)) return undefined;
    if (held.startsWith('\\')) return this.#readEscape();
    const end = held.slice(1).search(/["'\\]/) + 1;
    const length = end === 0 ? wholeLength(held) : end;
    return length === 0 ? undefined : this.#take(length, escaped(held.slice(0, length)), 'string');
  }

  #readEscape(): string | undefined {
    const letter = this.#held.charAt(1);
    if (letter === '') return undefined;
    const numDigits = DIGITS.get(letter);
    if (numDigits === undefined)
      return this.#take(2, escaped(ESCAPES.get(letter) ?? `\\${letter}`), 'string');
    const digits = this.#held.slice(2, 2 + numDigits);
    if (!/^[\da-fA-F]*$/.test(digits)) return this.#take(2, escaped(`\\${letter}`), 'string');
    if (digits.length < numDigits) return undefined;
    const code = parseInt(digits, 16);
    const json = code <= 0xffff ? `\\u${digits.slice(-4).padStart(4, '0')}` : escaped(characterOf(code));
    return this.#take(2 + numDigits, json, 'string');
  }

  #separated(): string {
    const separator = this.#separator;
    this.#separator = '';
    return separator;
  }

  #take(length: number, json: string, mode: 'item' | 'string' | 'behind' | 'broken'): string {
    this.#held = this.#held.slice(length);
    this.#mode = mode;
    return json;
  }
}

/** A value of Python as JSON; undefined for a text that is none. */
export function pythonValue(text: string): string | undefined {
  const { json, rest } = new PythonArguments().push(`x=${text})`);
  return rest === '' ? json.slice('{"x":'.length, -1) : undefined;
}

function wordInJson(word: string): string {
  const known = WORDS.get(word);
  if (known !== undefined) return known;
  if (['true', 'false', 'null'].includes(word) || JSON_NUMBER.test(word)) return word;
  const number = NUMBER.test(word) ? Number(word.replaceAll('_', '')) : NaN;
  return JSON.stringify(Number.isFinite(number) ? number : word);
}

function asKey(json: string): string {
  return json.startsWith('"') ? json : JSON.stringify(json);
}

function characterOf(code: number): string {
  return code > 0x10_ffff ? '\ufffd' : String.fromCodePoint(code);
}
