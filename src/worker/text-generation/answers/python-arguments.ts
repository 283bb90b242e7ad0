import { readPieces, type ArgumentsReader } from './arguments-reader.ts';
import { escaped, wholeLength } from './json-escapes.ts';

// LFM2 writes a call as Python: `f(city="Rome", days=3)`. JSON's words and strings are read, too. What isn't a literal of both ends the
// arguments before their last bracket.

const WORDS: ReadonlyMap<string, string> = new Map([
  ['True', 'true'],
  ['False', 'false'],
  ['None', 'null'],
  ...['true', 'false', 'null'].map((same) => [same, same] as const),
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
const WORD = /^(?:[+-]\s*)*[^\s,:()[\]{}'"+-][^\s,:()[\]{}'"]*(?=[\s,:()[\]{}'"])/;
const BEGUN_WORD = /^(?:[+-]\s*)*(?:[^\s,:()[\]{}'"+-][^\s,:()[\]{}'"]*)?$/;
/** A raw text keeps its backslashes; `u` says nothing. */
const QUOTES = /^([rRuU]?)("{1,3}|'{1,3})/;
const SIGNS = /^[+\-\s]*/;
const INTEGER = /^(?:0(?:_?0)*|[1-9](?:_?\d)*)$/;
const FLOAT = /^(?:\d(?:_?\d)*(?:\.(?:\d(?:_?\d)*)?)?|\.\d(?:_?\d)*)(?:[eE][+-]?\d(?:_?\d)*)?$/;
const WITH_BASE = /^0(?:[xX](?:_?[\da-fA-F])+|[oO](?:_?[0-7])+|[bB](?:_?[01])+)$/;
const JSON_NUMBER = /^(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

interface Bracket {
  readonly close: string;
  readonly begin: string;
  readonly end: string;
}

type Mode = 'item' | 'string' | 'joint' | 'behind' | 'broken';

/** Turns keyword arguments into JSON, from behind their opening bracket on. */
export class PythonArguments implements ArgumentsReader {
  #held = '';
  #mode: Mode = 'item';
  readonly #open: { readonly bracket: Bracket; hasComma: boolean }[] = [];
  #quote = '';
  #isRaw = false;
  readonly #names = new Set<string>();
  /** The next string is a key of a dictionary. */
  #isKey = false;
  #separator = '';

  push(text: string): ReturnType<ArgumentsReader['push']> {
    this.#held += text;
    const begin = this.#open.length === 0 ? ROOT.begin : '';
    if (begin !== '') this.#open.push({ bracket: ROOT, hasComma: false });
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
    if (this.#mode === 'joint') return this.#readJoint();
    const { bracket } = this.#open.at(-1) ?? {};
    if (bracket && this.#held.startsWith(bracket.close) && this.#separator !== ':')
      return this.#readClose(bracket);
    if (this.#mode === 'behind') return this.#readSeparator();
    return bracket === ROOT && this.#separator !== ':' ? this.#readName() : this.#readValue(bracket);
  }

  /** Neither a set nor one value in round brackets is a list. */
  #readClose(bracket: Bracket): string | undefined {
    const isOne = this.#mode === 'behind' && this.#open.at(-1)?.hasComma === false;
    const isValue = isOne && bracket.close === ')' && bracket !== ROOT;
    if (this.#isKey || isValue) return this.#take(0, '', 'broken');
    this.#open.pop();
    return this.#take(1, bracket.end, 'behind');
  }

  #readSeparator(): string | undefined {
    const mark = this.#held.charAt(0);
    if (mark !== (this.#isKey ? ':' : ',')) return this.#take(0, '', 'broken');
    const last = this.#open.at(-1);
    if (last && mark === ',') last.hasComma = true;
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
    const key = name.trimEnd();
    if (this.#names.has(key)) return this.#take(0, '', 'broken');
    this.#names.add(key);
    const json = `${this.#separated()}${JSON.stringify(key)}`;
    this.#separator = ':';
    return this.#take(whole.length, json, 'item');
  }

  #readValue(bracket: Bracket | undefined): string | undefined {
    const held = this.#held;
    const inner = BRACKETS.get(held.charAt(0));
    if (inner) {
      this.#open.push({ bracket: inner, hasComma: false });
      return this.#take(1, `${this.#separated()}${inner.begin}`, 'item');
    }
    if (QUOTES.test(held)) {
      const isKey = bracket?.close === '}' && this.#separator !== ':';
      const json = this.#readQuotes();
      if (json === undefined) return undefined;
      this.#isKey = isKey;
      return `${this.#separated()}"`;
    }
    const [word] = WORD.exec(held) ?? [];
    if (word === undefined) return BEGUN_WORD.test(held) ? undefined : this.#take(0, '', 'broken');
    const json = wordInJson(word);
    if (json === undefined) return this.#take(0, '', 'broken');
    this.#isKey = bracket?.close === '}' && this.#separator !== ':';
    return this.#take(word.length, `${this.#separated()}${this.#isKey ? asKey(json) : json}`, 'behind');
  }

  /** Opens a text; undefined until more comes. */
  #readQuotes(): string | undefined {
    const [whole = '', prefix = '', quotes = ''] = QUOTES.exec(this.#held) ?? [];
    // Two of them are an empty string, or the first two of three.
    if (quotes.length < 3 && whole.length === this.#held.length) return undefined;
    this.#isRaw = prefix.toLowerCase() === 'r';
    this.#quote = quotes.length === 3 ? quotes : quotes.charAt(0);
    return this.#take(prefix.length + this.#quote.length, '', 'string');
  }

  /** A text goes on where another follows it. */
  #readJoint(): string | undefined {
    if (QUOTES.test(this.#held)) return this.#readQuotes();
    return /^[rRuU]$/.test(this.#held) ? undefined : this.#take(0, '"', 'behind');
  }

  #readString(): string | undefined {
    const held = this.#held;
    if (held === '') return undefined;
    if (held.startsWith(this.#quote)) return this.#take(this.#quote.length, '', 'joint');
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
    if (this.#isRaw) return this.#take(2, escaped(`\\${letter}`), 'string');
    if (/[0-7]/.test(letter)) return this.#readOctal();
    // No names of characters are known here.
    if (letter === 'N') return this.#take(0, '', 'broken');
    const numDigits = DIGITS.get(letter);
    if (numDigits === undefined)
      return this.#take(2, escaped(ESCAPES.get(letter) ?? `\\${letter}`), 'string');
    const digits = this.#held.slice(2, 2 + numDigits);
    if (!/^[\da-fA-F]*$/.test(digits)) return this.#take(0, '', 'broken');
    if (digits.length < numDigits) return undefined;
    const code = parseInt(digits, 16);
    if (code > 0x10_ffff) return this.#take(0, '', 'broken');
    const json =
      code <= 0xffff ? `\\u${digits.slice(-4).padStart(4, '0')}` : escaped(String.fromCodePoint(code));
    return this.#take(2 + numDigits, json, 'string');
  }

  /** One to three digits. */
  #readOctal(): string | undefined {
    const [digits = ''] = /^[0-7]{1,3}/.exec(this.#held.slice(1)) ?? [];
    if (digits.length < 3 && this.#held.length === 1 + digits.length) return undefined;
    return this.#take(1 + digits.length, escaped(String.fromCodePoint(parseInt(digits, 8))), 'string');
  }

  #separated(): string {
    const separator = this.#separator;
    this.#separator = '';
    return separator;
  }

  #take(length: number, json: string, mode: Mode): string {
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

/** Undefined for a word that is no literal. */
function wordInJson(word: string): string | undefined {
  const [signs = ''] = SIGNS.exec(word) ?? [];
  const number = numberInJson(word.slice(signs.length));
  if (number === undefined) return WORDS.get(word);
  return `${(signs.split('-').length - 1) % 2 === 1 ? '-' : ''}${number}`;
}

/** A whole number keeps all its digits. */
function numberInJson(word: string): string | undefined {
  const plain = word.replaceAll('_', '');
  if (WITH_BASE.test(word)) return String(BigInt(plain));
  if (INTEGER.test(word)) return plain.replace(/^0+(?=0)/, '');
  const number = FLOAT.test(word) && !/^\d+$/.test(plain) ? Number(plain) : NaN;
  if (!Number.isFinite(number)) return undefined;
  return JSON_NUMBER.test(plain) ? plain : JSON.stringify(number);
}

function asKey(json: string): string {
  return json.startsWith('"') ? json : JSON.stringify(json);
}
