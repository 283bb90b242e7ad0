import { allocate, checkSearch, sized } from './bounds.ts';
import { textOf } from './compare.ts';
import { Tuple } from './containers.ts';
import { isSpace } from './lexer.ts';
import { capitalize, isLower, isUpper, swapCase, title, WHOLE } from './letters.ts';
import { integer } from './numbers.ts';
import { charactersOf, iterate, TemplateError, typeName, type Bound, type Value } from './values.ts';

interface Method {
  readonly params: readonly string[];
  readonly run: (text: string, args: Bound) => Value;
}

/** @throws TemplateError for what isn't a text. */
export function requireText(value: Value | undefined): string {
  const text = textOf(value ?? null);
  if (text === undefined) throw new TemplateError(`must be str, not ${typeName(value ?? null)}`);
  return text;
}

/** `text.strip(characters)`, of the ends that are named. */
export function strip(text: string, characters: string | undefined, atStart = true, atEnd = true): string {
  const all = Array.from(text);
  const set = characters === undefined ? undefined : new Set(characters);
  const isStripped = (character: string) => (set ? set.has(character) : isSpace(character));
  const end = atEnd ? all.findLastIndex((character) => !isStripped(character)) + 1 : all.length;
  const start = atStart ? all.findIndex((character) => !isStripped(character)) : 0;
  return start < 0 ? '' : all.slice(start, end).join('');
}

const stripping = (atStart: boolean, atEnd: boolean): Method => ({
  params: ['chars?'],
  run: (text, [characters = null]) =>
    strip(text, characters === null ? undefined : requireText(characters), atStart, atEnd),
});

/** As a search in the text's characters: the part of a text, and how many characters come before it. */
const finding = (isFromEnd: boolean, isStrict: boolean): Method => ({
  params: ['sub', 'start?', 'end?'],
  run(text, [sub, start = null, end = null]) {
    const part = requireText(sub);
    const { before, inner, isNone } = partOf(text, start, end);
    checkSearch(inner, part);
    const index = isFromEnd ? inner.lastIndexOf(part) : inner.indexOf(part);
    if (isNone || index < 0) {
      if (isStrict) throw new TemplateError('substring not found');
      return -1n;
    }
    return BigInt(before + charactersOf(inner.slice(0, index)).length);
  },
});

interface TextPart {
  /** How many characters come before it. */
  readonly before: number;
  readonly inner: string;
  /** Whether it begins behind its end, or the text's: not even an empty text is in it. */
  readonly isNone: boolean;
}

function partOf(text: string, start: Value, end: Value): TextPart {
  if (start === null && end === null) return { before: 0, inner: text, isNone: false };
  const characters = Array.from(text);
  const place = (value: Value, fallback: number) => {
    if (value === null) return fallback;
    const index = integer(value);
    return index < 0 ? Math.max(0, index + characters.length) : index;
  };
  const before = place(start, 0);
  const until = Math.min(characters.length, place(end, characters.length));
  return { before, inner: characters.slice(before, until).join(''), isNone: before > until };
}

const affix = (isSame: (text: string, part: string) => boolean): Method => ({
  params: ['prefix', 'start?', 'end?'],
  run(text, [parts = null, start = null, end = null]) {
    const { inner, isNone } = partOf(text, start, end);
    const all = parts instanceof Tuple ? parts.items : [parts];
    return all.some((part) => isSame(inner, requireText(part)) && !isNone);
  },
});

const padding = (share: (missing: number, width: number) => number): Method => ({
  params: ['width', 'fillchar?'],
  run(text, [width, fill = ' ']) {
    const size = integer(width);
    allocate(Math.max(0, size));
    const missing = Math.max(0, size - charactersOf(text).length);
    const before = share(missing, size);
    return requireText(fill).repeat(before) + text + requireText(fill).repeat(missing - before);
  },
});

/** As CPython shares an odd number of places. */
export const center = padding((missing, width) => Math.floor(missing / 2) + (missing & width & 1));

function splitAt(text: string, separator: string, limit: number): string[] {
  if (separator === '') throw new TemplateError('empty separator');
  checkSearch(text, separator);
  const parts = text.split(separator);
  allocate(parts.length);
  return limit < 0 || parts.length <= limit + 1
    ? parts
    : [...parts.slice(0, limit), parts.slice(limit).join(separator)];
}

function splitAtEnd(text: string, separator: string, limit: number): string[] {
  const parts = splitAt(text, separator, -1);
  const numJoined = limit < 0 ? 0 : Math.max(0, parts.length - limit);
  return numJoined === 0 ? parts : [parts.slice(0, numJoined).join(separator), ...parts.slice(numJoined)];
}

/** Words, with what is left of the text after so many. */
function splitAtSpaces(text: string, limit: number): string[] {
  const words: string[] = [];
  let position = 0;
  for (;;) {
    while (position < text.length && isSpace(text[position] ?? '')) position += 1;
    if (position >= text.length) return words;
    if (words.length === limit) return [...words, text.slice(position)];
    const start = position;
    while (position < text.length && !isSpace(text[position] ?? '')) position += 1;
    words.push(text.slice(start, position));
  }
}

const reversed = (text: string) => Array.from(text).toReversed().join('');

const splitting = (isFromEnd: boolean): Method => ({
  params: ['sep?', 'maxsplit?'],
  run(text, [separator = null, maxSplit]) {
    const limit = integer(maxSplit, -1);
    if (separator !== null) return (isFromEnd ? splitAtEnd : splitAt)(text, requireText(separator), limit);
    return isFromEnd
      ? splitAtSpaces(reversed(text), limit).map(reversed).toReversed()
      : splitAtSpaces(text, limit);
  },
});

const partition = (isFromEnd: boolean): Method => ({
  params: ['sep'],
  run(text, [sep]) {
    const separator = requireText(sep);
    if (separator === '') throw new TemplateError('empty separator');
    checkSearch(text, separator);
    const index = isFromEnd ? text.lastIndexOf(separator) : text.indexOf(separator);
    if (index < 0) return new Tuple(isFromEnd ? ['', '', text] : [text, '', '']);
    return new Tuple([text.slice(0, index), separator, text.slice(index + separator.length)]);
  },
});

/** Every kind of line end that Python knows. */
const LINE_ENDS = '\\n\\r\\v\\f\\x1c-\\x1e\\x85\\u2028\\u2029';
const LINE = new RegExp(`([^${LINE_ENDS}]*)(\\r\\n|[${LINE_ENDS}]|$)`, 'g');

export function splitLines(text: string, keepsEnds = false): string[] {
  const lines = Array.from(text.matchAll(LINE), ([line, inner = '']) => (keepsEnds ? line : inner));
  // The last match is an empty one at the end of the text.
  lines.pop();
  return lines;
}

/** `text.replace(old, new, count)`. */
export function replace(text: string, old: string, fresh: string, count: number): string {
  checkSearch(text, old);
  const isAll = count < 0;
  const places = old === '' ? charactersOf(text).length + 1 : text.split(old).length - 1;
  const times = isAll ? places : Math.min(places, count);
  allocate(text.length + times * fresh.length);
  if (old !== '') {
    const parts = splitAt(text, old, times);
    return parts.join(fresh);
  }
  const characters = Array.from(text);
  return (
    characters.map((character, i) => (i < times ? fresh : '') + character).join('') +
    (times > characters.length ? fresh : '')
  );
}

const simple = (run: (text: string) => Value): Method => ({ params: [], run });

const METHODS: Readonly<Record<string, Method>> = {
  capitalize: simple(capitalize),
  center,
  count: {
    params: ['sub', 'start?', 'end?'],
    run(text, [sub, start = null, end = null]) {
      const { inner, isNone } = partOf(text, start, end);
      const part = requireText(sub);
      if (isNone) return 0n;
      checkSearch(inner, part);
      return BigInt(part === '' ? charactersOf(inner).length + 1 : inner.split(part).length - 1);
    },
  },
  endswith: affix((text, part) => text.endsWith(part)),
  expandtabs: {
    params: ['tabsize?'],
    run(text, [tabSize]) {
      const size = integer(tabSize, 8);
      allocate(text.length * Math.max(1, size));
      let column = 0;
      return Array.from(text, (character) => {
        if (character === '\t') {
          const width = size > 0 ? size - (column % size) : 0;
          column += width;
          return ' '.repeat(width);
        }
        column = character === '\n' || character === '\r' ? 0 : column + 1;
        return character;
      }).join('');
    },
  },
  find: finding(false, false),
  index: finding(false, true),
  isascii: simple((text) => !/[^\p{ASCII}]/u.test(text)),
  islower: simple(isLower),
  isupper: simple(isUpper),
  join: {
    params: ['iterable'],
    run(text, [items = null]) {
      let result: string | undefined;
      for (const item of iterate(items)) {
        if (textOf(item) === undefined)
          throw new TemplateError(`sequence item: expected str instance, ${typeName(item)} found`);
        result = sized(result === undefined ? requireText(item) : result + text + requireText(item));
      }
      return result ?? '';
    },
  },
  ljust: padding(() => 0),
  lower: simple((text) => text.toLowerCase()),
  lstrip: stripping(true, false),
  partition: partition(false),
  removeprefix: {
    params: ['prefix'],
    run: (text, [prefix]) =>
      text.startsWith(requireText(prefix)) ? text.slice(requireText(prefix).length) : text,
  },
  removesuffix: {
    params: ['suffix'],
    run: (text, [suffix]) =>
      text.endsWith(requireText(suffix)) ? text.slice(0, text.length - requireText(suffix).length) : text,
  },
  replace: {
    params: ['old', 'new', 'count?'],
    run: (text, [old, fresh, count]) =>
      replace(text, requireText(old), requireText(fresh), integer(count, -1)),
  },
  rfind: finding(true, false),
  rindex: finding(true, true),
  rjust: padding((missing) => missing),
  rpartition: partition(true),
  rsplit: splitting(true),
  rstrip: stripping(false, true),
  split: splitting(false),
  splitlines: {
    params: ['keepends?'],
    run: (text, [keepsEnds]) => splitLines(text, keepsEnds === true),
  },
  startswith: affix((text, part) => text.startsWith(part)),
  strip: stripping(true, true),
  swapcase: simple(swapCase),
  title: simple(title),
  upper: simple((text) => text.toUpperCase()),
  zfill: {
    params: ['width'],
    run(text, [width]) {
      const size = integer(width);
      allocate(Math.max(0, size));
      const sign = /^[-+]/.exec(text)?.[0] ?? '';
      return sign + '0'.repeat(Math.max(0, size - charactersOf(text).length)) + text.slice(sign.length);
    },
  },
  ...Object.fromEntries(
    Object.entries(WHOLE).map(([name, pattern]) => [name, simple((text) => pattern.test(text))]),
  ),
};

/** Undefined for a method that a text hasn't, or that isn't computed here. */
export function textMethod(name: string): Method | undefined {
  return Object.hasOwn(METHODS, name) ? METHODS[name] : undefined;
}
