import { areKnown, WORD_CHARACTERS } from './characters.ts';

/** Names of `\p{…}` that mean the same to Oniguruma. */
const PROPERTIES =
  /^(?:L[ultmo]?|M[nce]?|N[dlo]?|P[cdseifo]?|S[mcko]?|Z[slp]?|C[cfo]|Letter|Mark|Number|Punctuation|Symbol|Letter_Number|Alphabetic|Uppercase|Ideographic|White_Space)$/;
const SCRIPTS =
  /^(?:Arabic|Armenian|Bengali|Bopomofo|Cherokee|Common|Cyrillic|Devanagari|Ethiopic|Georgian|Greek|Han|Hangul|Hebrew|Hiragana|Katakana|Khmer|Lao|Latin|Mongolian|Myanmar|Tamil|Thai|Tibetan)$/;

/** Outside of a class these are words to Oniguruma, inside they aren't. */
const WORD = `[${WORD_CHARACTERS}²³¹¼-¾]`;
const BOUNDARY = `(?:(?<!${WORD})(?=${WORD})|(?<=${WORD})(?!${WORD}))`;
const NO_BOUNDARY = `(?:(?<!${WORD})(?!${WORD})|(?<=${WORD})(?=${WORD}))`;

/** Where the text or a line begins or ends. */
const ANCHORS: ReadonlyMap<string, string> = new Map([
  ['.', String.raw`[^\n]`],
  ['^', String.raw`(?:(?<![\s\S])|(?<=\n)(?=[\s\S]))`],
  ['$', String.raw`(?:(?=\n)|(?![\s\S]))`],
]);

const ESCAPES: ReadonlyMap<string, string> = new Map([
  ['d', String.raw`\p{Nd}`],
  ['D', String.raw`\P{Nd}`],
  ['s', String.raw`\p{White_Space}`],
  ['S', String.raw`\P{White_Space}`],
  ['w', WORD],
  ['W', WORD.replace('[', '[^')],
  ['b', BOUNDARY],
  ['B', NO_BOUNDARY],
]);
const ESCAPES_IN_CLASS: ReadonlyMap<string, string | undefined> = new Map([
  ...ESCAPES,
  ['w', WORD_CHARACTERS],
  ['W', undefined],
  ['b', String.raw`\x08`],
  ['B', undefined],
]);
const CONTROLS: ReadonlyMap<string, string> = new Map([
  ['f', '\f'],
  ['n', '\n'],
  ['r', '\r'],
  ['t', '\t'],
  ['v', '\v'],
]);

const ESCAPE = /\\(?:([pP])\{([^{}]+)\}|u([\da-fA-F]{4})|x([\da-fA-F]{2})|([\s\S]))/uy;
const GROUP = /\((?:\?(?:[:=!]|<[=!]|i:))?/uy;
const QUANTIFIER = /(?:[?*+]|\{(?<bounds>\d+(?:,\d*)?)\})(?<isLazy>\??)/uy;
const ANY = /[\s\S]/uy;

/** Two letters that one character may stand for where case is ignored. */
const LIGATURES = /s[st]|f[fil]/i;

/** A regular expression of Oniguruma that JavaScript would read in another way. */
class Untranslatable extends Error {}

/**
 * A regular expression of Oniguruma, as `tokenizers` reads it, in JavaScript's syntax with the flag `u`. Undefined for what has no
 * counterpart. Takes only expressions that `compilePattern` has parsed.
 */
export function translatePattern(source: string): string | undefined {
  try {
    return new Translator(source).translate();
  } catch (error) {
    if (error instanceof Untranslatable) return undefined;
    throw error;
  }
}

class Translator {
  readonly #source: string;
  #at = 0;
  /** Whether each open group ignores case. */
  readonly #ignoresCase = [false];

  constructor(source: string) {
    this.#source = source;
  }

  translate(): string {
    let result = '';
    while (this.#at < this.#source.length) result += this.#next();
    return result;
  }

  get #isCaseIgnored(): boolean {
    return this.#ignoresCase.at(-1) === true;
  }

  #next(): string {
    const group = this.#take(GROUP);
    if (group) {
      const [opening] = group;
      this.#ignoresCase.push(opening === '(?i:' || this.#isCaseIgnored);
      if (opening === '(?i:') this.#checkLigatures();
      return opening === '(?i:' ? '(?:' : opening;
    }
    const quantifier = this.#take(QUANTIFIER);
    if (quantifier) {
      const { bounds, isLazy } = quantifier.groups ?? {};
      // Oniguruma reads `a{2}?` as `(?:a{2})?`.
      if (bounds !== undefined && !bounds.includes(',') && isLazy !== '') throw new Untranslatable();
      return quantifier[0];
    }
    const char = this.#source.charAt(this.#at);
    if (char === '[') return this.#class();
    if (char === '\\') return this.#escape(ESCAPES);
    if (char === '|') return this.#any();
    if (char === ')') {
      this.#ignoresCase.pop();
      return this.#any();
    }
    const anchor = ANCHORS.get(char);
    if (anchor === undefined) return this.#literal(this.#any());
    this.#any();
    return anchor;
  }

  /** Up to the end of the group or of one in it, which is enough: letters are beside each other within one. */
  #checkLigatures(): void {
    if (LIGATURES.test(this.#source.slice(this.#at))) throw new Untranslatable();
  }

  #class(): string {
    this.#any();
    let result = '[';
    if (this.#take(/\^/uy)) result += '^';
    while (!this.#take(/\]/uy)) {
      const begin = this.#at;
      const item = this.#classItem();
      const isRange = this.#take(/-(?!\])/uy);
      if (!isRange) {
        result += item;
        continue;
      }
      const end = this.#classItem();
      const isPlain = [item, end].every((one) => /^\\u\{[\da-f]+\}$/.test(one));
      const isFolded = this.#isCaseIgnored && /[A-Za-z]/.test(this.#source.slice(begin, this.#at));
      const [first = 0, last = 0] = [item, end].map((one) => parseInt(one.slice(3), 16));
      if (!isPlain || isFolded || !areKnown(first, last)) throw new Untranslatable();
      result += `${item}-${end}`;
    }
    return `${result}]`;
  }

  #classItem(): string {
    return this.#source.charAt(this.#at) === '\\'
      ? this.#escape(ESCAPES_IN_CLASS)
      : this.#literal(this.#any(), true);
  }

  #escape(escapes: ReadonlyMap<string, string | undefined>): string {
    const [, p, property = '', unit, byte, char = ''] = this.#take(ESCAPE) ?? [];
    const isInClass = escapes === ESCAPES_IN_CLASS;
    if (p !== undefined) {
      if (this.#isCaseIgnored) throw new Untranslatable();
      if (PROPERTIES.test(property)) return `\\${p}{${property}}`;
      if (SCRIPTS.test(property)) return `\\${p}{Script=${property}}`;
      throw new Untranslatable();
    }
    const code = unit ?? byte;
    if (code !== undefined) {
      const value = parseInt(code, 16);
      // `\x80` is a byte of a character.
      if ((value >= 0xd800 && value < 0xe000) || (byte !== undefined && value > 0x7f))
        throw new Untranslatable();
      return this.#literal(String.fromCharCode(value), isInClass);
    }
    const control = CONTROLS.get(char);
    if (control !== undefined) return this.#literal(control, isInClass);
    if (!escapes.has(char)) return this.#literal(char, isInClass);
    const escape = escapes.get(char);
    if (escape === undefined || this.#isCaseIgnored) throw new Untranslatable();
    return escape;
  }

  #literal(char: string, isInClass = false): string {
    const code = char.codePointAt(0) ?? 0;
    if (!areKnown(code, code)) throw new Untranslatable();
    const cases = this.#isCaseIgnored ? casesOf(char) : char;
    const escaped = Array.from(cases, (one) => `\\u{${(one.codePointAt(0) ?? 0).toString(16)}}`).join('');
    return isInClass || cases === char ? escaped : `[${escaped}]`;
  }

  #any(): string {
    return this.#take(ANY)?.[0] ?? '';
  }

  #take(expected: RegExp): RegExpExecArray | undefined {
    expected.lastIndex = this.#at;
    const match = expected.exec(this.#source);
    if (!match) return undefined;
    this.#at = expected.lastIndex;
    return match;
  }
}

/** All characters that are the same where case is ignored. */
function casesOf(char: string): string {
  if (/[^\p{ASCII}]/u.test(char)) throw new Untranslatable();
  const [lower, upper] = [char.toLowerCase(), char.toUpperCase()];
  if (lower === upper) return char;
  return lower + upper + (lower === 's' ? '\u017F' : lower === 'k' ? '\u212A' : '');
}
