import { isRounded } from '../batching/base/lost-digits.ts';

// Engines say in words of their own why a text is no JSON, and not always where.

/** What a text breaks JSON's rules with. */
interface Fault {
  readonly at: number;
  readonly expected: string;
}

type Next = 'value' | 'first entry' | 'name' | 'first name' | 'colon' | 'comma';

const SPACE = /[ \t\n\r]*/y;
const SCALAR = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y;
/** All but quotes, backslashes and control characters below the space. */
const CHARACTERS = /[ !#-[\]-\uFFFF]*/y;
const ESCAPE = /\\(?:["\\/bfnrt]|u[\dA-Fa-f]{4})/y;

/**
 * Where a text breaks JSON's rules, as in "expected a value at column 3, got `}`"; undefined for JSON. Takes linear time, and no stack.
 */
export function describeJsonFault(text: string): string | undefined {
  const fault = faultIn(text);
  if (!fault) return undefined;
  const { expected } = fault;
  const at = Math.min(fault.at, text.trimEnd().length);
  const lines = text.slice(0, at).split('\n');
  const column = `column ${(lines.at(-1) ?? '').length + 1}`;
  const place = text.trim().includes('\n') ? `line ${lines.length}, ${column}` : column;
  return `expected ${expected} at ${place}, got ${foundAt(text, fault.at)}`;
}

const STRING_OR_WORD = /"[^"\\]*(?:\\.[^"\\]*)*"|[^\s,:{}[\]"]+/g;

/** The first integer of JSON that JavaScript would round, as it is spelled. */
export function roundedIn(json: string): string | undefined {
  return json.match(STRING_OR_WORD)?.find((token) => isRounded(token));
}

function faultIn(text: string): Fault | undefined {
  const open: string[] = [];
  let next: Next = 'value';
  let at = 0;
  for (;;) {
    at = endOf(SPACE, text, at) ?? at;
    const sign = text[at];
    const isFirst = next.startsWith('first');
    const isName = next.endsWith('name');
    if (next === 'comma' && open.length === 0)
      return at === text.length ? undefined : { at, expected: 'the end' };
    if ((isFirst || next === 'comma') && sign === open.at(-1)) {
      open.pop();
      next = 'comma';
      at += 1;
    } else if (next === 'comma') {
      if (sign !== ',') return { at, expected: `\`,\` or \`${open.at(-1)}\`` };
      next = open.at(-1) === '}' ? 'name' : 'value';
      at += 1;
    } else if (next === 'colon') {
      if (sign !== ':') return { at, expected: '`:`' };
      next = 'value';
      at += 1;
    } else if (sign === '"') {
      const end = endOfText(text, at);
      if (typeof end !== 'number') return end;
      at = end;
      next = isName ? 'colon' : 'comma';
    } else if (isName) {
      return { at, expected: `a name in double quotes${isFirst ? ' or `}`' : ''}` };
    } else if (sign === '{' || sign === '[') {
      open.push(sign === '{' ? '}' : ']');
      next = sign === '{' ? 'first name' : 'first entry';
      at += 1;
    } else {
      const end = endOf(SCALAR, text, at);
      if (end === undefined) return { at, expected: `a value${isFirst ? ' or `]`' : ''}` };
      at = end;
      next = 'comma';
    }
  }
}

/** Where a text in quotes ends, or what breaks it. */
function endOfText(text: string, start: number): number | Fault {
  let at = start + 1;
  for (;;) {
    at = endOf(CHARACTERS, text, at) ?? at;
    if (text[at] === '"') return at + 1;
    const end = endOf(ESCAPE, text, at);
    if (end === undefined) return { at, expected: at === text.length ? '`"`' : 'an escape such as `\\n`' };
    at = end;
  }
}

function endOf(pattern: RegExp, text: string, at: number): number | undefined {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : undefined;
}

/** A short word, an escape, or one character. */
const FOUND = /[\w$.+-]{1,20}|\\[\s\S]?|[\s\S]/uy;

function foundAt(text: string, at: number): string {
  FOUND.lastIndex = at;
  const [found] = FOUND.exec(text) ?? [];
  if (found === undefined) return 'the end';
  if (found === '\n' || found === '\r') return 'a line break';
  if (/^[\p{L}\p{N}\p{P}\p{S}]+$/u.test(found)) return `\`${found}\``;
  const code = (found.codePointAt(0) ?? 0).toString(16).toUpperCase();
  return `U+${code.padStart(4, '0')}`;
}
