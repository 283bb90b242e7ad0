import { UnsupportedFeature } from './values.ts';

export type Token =
  | { readonly type: 'data' | 'name' | 'string' | 'operator'; readonly value: string }
  | { readonly type: 'integer'; readonly value: bigint }
  | { readonly type: 'float'; readonly value: number }
  | { readonly type: 'blockStart' | 'blockEnd' | 'printStart' | 'printEnd' | 'end'; readonly value: '' };

/** White space of Python's regular expressions and of `str.strip`, which isn't JavaScript's. */
export const SPACE = '\\t-\\r\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000';

const SPACES = new RegExp(`[${SPACE}]+`, 'y');
const ENDS_OF_BLOCK = new RegExp(`\\+%\\}|-%\\}[${SPACE}]*|%\\}\\n?`, 'y');
const ENDS_OF_PRINT = new RegExp(`-\\}\\}[${SPACE}]*|\\}\\}`, 'y');
const ENDS_OF_COMMENT = new RegExp(`\\+#\\}|-#\\}[${SPACE}]*|#\\}\\n?`, 'g');
const RAW = new RegExp(`[-+]?[${SPACE}]*raw[${SPACE}]*(?:-%\\}[${SPACE}]*|%\\})`, 'y');
const END_OF_RAW = new RegExp(
  `\\{%([-+]?)[${SPACE}]*endraw[${SPACE}]*(?:\\+%\\}|-%\\}[${SPACE}]*|%\\}\\n?)`,
  'g',
);
const START = /\{[{%#]/g;
const FLOAT = /(?<!\.)(?:\d+_)*\d+(?:(?:\.(?:\d+_)*\d+)?e[+-]?(?:\d+_)*\d+|\.(?:\d+_)*\d+)/iy;
const INTEGER = /0b(?:_?[01])+|0o(?:_?[0-7])+|0x(?:_?[\da-f])+|[1-9](?:_?\d)*|0(?:_?0)*/iy;
const NAME = /[\p{ID_Start}_]\p{ID_Continue}*/uy;
const STRING = /'[^'\\]*(?:\\[^][^'\\]*)*'|"[^"\\]*(?:\\[^][^"\\]*)*"/y;
const OPERATOR = /\/\/|\*\*|==|!=|>=|<=|[-+/*%~[\](){}<>=.:|,;]/y;
const CLOSING: ReadonlyMap<string, string> = new Map([
  ['(', ')'],
  ['[', ']'],
  ['{', '}'],
]);

/** Reads a template as Jinja2 does with `trim_blocks` and `lstrip_blocks`. @throws SyntaxError */
export function tokenize(template: string): readonly Token[] {
  return new Lexer(template.replaceAll(/\r\n?/g, '\n').replace(/\n$/, '')).read();
}

class Lexer {
  readonly #source: string;
  readonly #tokens: Token[] = [];
  #position = 0;
  /** Whether the last match ended a line. */
  #startsLine = true;

  constructor(source: string) {
    this.#source = source;
  }

  read(): readonly Token[] {
    for (;;) {
      START.lastIndex = this.#position;
      const start = START.exec(this.#source);
      if (!start) break;
      this.#readTag(start.index, start[0]);
    }
    this.#addData(this.#source.slice(this.#position));
    this.#tokens.push({ type: 'end', value: '' });
    return this.#tokens;
  }

  #readTag(index: number, start: string): void {
    const text = this.#source.slice(this.#position, index);
    const sign = this.#source[index + 2] ?? '';
    this.#addData(this.#stripped(text, sign, start !== '{{'));
    this.#position = index + 2;
    const isRaw = start === '{%' && this.#match(RAW);
    if (isRaw) return this.#readRaw();
    this.#position = index + (sign === '-' || sign === '+' ? 3 : 2);
    if (start === '{#') return this.#readComment();
    this.#startsLine = false;
    this.#readCode(start === '{%');
  }

  #addData(value: string): void {
    if (value !== '') this.#tokens.push({ type: 'data', value });
  }

  /** The text before a tag, without the white space that the tag takes. */
  #stripped(text: string, sign: string, isBlock: boolean): string {
    if (sign === '-') return stripEnd(text);
    if (sign === '+' || !isBlock) return text;
    const line = text.lastIndexOf('\n') + 1;
    if (line === 0 && !this.#startsLine) return text;
    return stripEnd(text.slice(line)) === '' ? text.slice(0, line) : text;
  }

  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#position;
    const [match] = pattern.exec(this.#source) ?? [];
    if (match === undefined) return undefined;
    this.#position = pattern.lastIndex;
    this.#startsLine = match.endsWith('\n');
    return match;
  }

  #readComment(): void {
    if (this.#match(ENDS_OF_COMMENT) === undefined) throw new SyntaxError('Missing end of comment tag');
  }

  #readRaw(): void {
    const from = this.#position;
    END_OF_RAW.lastIndex = from;
    const end = END_OF_RAW.exec(this.#source);
    if (!end) throw new SyntaxError('Missing end of raw directive');
    this.#addData(this.#stripped(this.#source.slice(from, end.index), end[1] ?? '', true));
    this.#position = END_OF_RAW.lastIndex;
    this.#startsLine = end[0].endsWith('\n');
  }

  #readCode(isBlock: boolean): void {
    this.#tokens.push({ type: isBlock ? 'blockStart' : 'printStart', value: '' });
    const open: string[] = [];
    for (;;) {
      if (open.length === 0 && this.#match(isBlock ? ENDS_OF_BLOCK : ENDS_OF_PRINT) !== undefined) {
        this.#tokens.push({ type: isBlock ? 'blockEnd' : 'printEnd', value: '' });
        return;
      }
      if (this.#match(SPACES) !== undefined) continue;
      const token = this.#readToken();
      this.#tokens.push(token);
      if (token.type === 'operator') balance(open, token.value);
    }
  }

  #readToken(): Token {
    const float = this.#match(FLOAT);
    if (float !== undefined) return { type: 'float', value: Number(float.replaceAll('_', '')) };
    const integer = this.#match(INTEGER);
    if (integer !== undefined) return { type: 'integer', value: BigInt(integer.replaceAll('_', '')) };
    const name = this.#match(NAME);
    if (name !== undefined) return { type: 'name', value: name };
    const string = this.#match(STRING);
    if (string !== undefined) return { type: 'string', value: unescape(string.slice(1, -1)) };
    const operator = this.#match(OPERATOR);
    if (operator !== undefined) return { type: 'operator', value: operator };
    const character = this.#source[this.#position];
    throw new SyntaxError(
      character === undefined ? 'Unexpected end of template' : `Unexpected character ${character}`,
    );
  }
}

function stripEnd(text: string): string {
  let end = text.length;
  while (end > 0 && isSpace(text[end - 1] ?? '')) end -= 1;
  return text.slice(0, end);
}

const ONE_SPACE = new RegExp(`^[${SPACE}]$`);

export function isSpace(character: string): boolean {
  return ONE_SPACE.test(character);
}

function balance(open: string[], operator: string): void {
  const closing = CLOSING.get(operator);
  if (closing !== undefined) open.push(closing);
  else if (')]}'.includes(operator) && open.pop() !== operator)
    throw new SyntaxError(`Unexpected '${operator}'`);
}

const ESCAPES: Readonly<Record<string, string>> = {
  '\n': '',
  '\\': '\\',
  "'": "'",
  '"': '"',
  a: '\x07',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
};
const ESCAPE = /\\(?:([0-7]{1,3})|x([\da-fA-F]{2})|u([\da-fA-F]{4})|U([\da-fA-F]{8})|([^]))/g;

/** As Python's `unicode-escape`. */
function unescape(text: string): string {
  return text.replaceAll(
    ESCAPE,
    (whole, octal?: string, x?: string, u?: string, long?: string, one?: string) => {
      if (octal !== undefined) return String.fromCodePoint(Number.parseInt(octal, 8));
      const code = x ?? u ?? long;
      if (code !== undefined) return String.fromCodePoint(Number.parseInt(code, 16));
      if (one === 'N') throw new UnsupportedFeature(String.raw`the escape \N{…} in a text`);
      if (one === 'x' || one === 'u' || one === 'U') throw new SyntaxError(`truncated \\${one} escape`);
      return ESCAPES[one ?? ''] ?? whole;
    },
  );
}
