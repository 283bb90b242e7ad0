import { binary } from './arithmetic.ts';
import { allocate } from './bounds.ts';
import { numberOf, textOf } from './compare.ts';
import { Dict, Tuple } from './containers.ts';
import { toJson } from './json.ts';
import { isSpace, SPACE } from './lexer.ts';
import type { Filter } from './filter.ts';
import { capitalize } from './letters.ts';
import { LIST_FILTERS } from './list-filters.ts';
import { Markup } from './markup.ts';
import { attributeOf } from './members.ts';
import { fixed, integer, parseFloat, parseInteger, scaled } from './numbers.ts';
import { str } from './print.ts';
import { center, replace, requireText, splitLines, strip } from './text-methods.ts';
import {
  TemplateError,
  Undefined,
  UnsupportedFeature,
  charactersOf,
  isTrue,
  iterableOf,
  iterate,
  lengthOf,
  listOf,
  orElse,
  type Bound,
  type Value,
  typeName,
} from './values.ts';

/** Text in, text out; a marked text stays marked. */
const text = (params: readonly string[], run: (given: string, args: Bound) => Value): Filter => ({
  params,
  run(value, args) {
    const result = run(str(value), args);
    return value instanceof Markup && typeof result === 'string' ? new Markup(result) : result;
  },
});

const length: Filter = {
  params: [],
  run(value) {
    const size = lengthOf(value);
    if (size === undefined) throw new TemplateError(`object of type '${typeName(value)}' has no len()`);
    return BigInt(size);
  },
};

const escape: Filter = { params: [], run: (value) => Markup.escape(value) };

const fallback: Filter = {
  params: ['default_value?', 'boolean?'],
  run: (value, [instead = '', isForFalse = false]) =>
    value instanceof Undefined || (isTrue(isForFalse) && !isTrue(value)) ? instead : value,
};

const FILTERS: Readonly<Record<string, Filter>> = {
  ...LIST_FILTERS,
  abs: {
    params: [],
    run(value) {
      const number = numberOf(value);
      if (number === undefined) throw new TemplateError(`bad operand type for abs(): '${typeName(value)}'`);
      return number < 0 || Object.is(number, -0) ? -number : number;
    },
  },
  attr: {
    params: ['name'],
    run(value, [name]) {
      const label = requireText(name);
      return orElse(
        attributeOf(value, label),
        () => new Undefined(`'${typeName(value)} object' has no attribute '${label}'`),
      );
    },
  },
  capitalize: text([], capitalize),
  center: text(['width?'], (given, [width]) => center.run(given, [width ?? 80n])),
  count: length,
  d: fallback,
  default: fallback,
  e: escape,
  escape,
  float: {
    params: ['default?'],
    run: (value, [instead = 0]) => floatOf(value) ?? instead,
  },
  forceescape: { params: [], run: (value) => Markup.escape(str(value)) },
  format: {
    params: undefined,
    run(value, _, { positional, named }) {
      if (positional.length > 0 && named.size > 0)
        throw new TemplateError("can't handle positional and keyword arguments at the same time");
      const template = value instanceof Markup ? value : str(value);
      return binary('%', template, named.size > 0 ? new Dict(named) : new Tuple(positional));
    },
  },
  indent: {
    params: ['width?', 'first?', 'blank?'],
    run(value, [width = 4n, isFirst = false, isBlank = false]) {
      if (value instanceof Undefined) value.fail();
      return indent(requireText(value), width, isTrue(isFirst), isTrue(isBlank));
    },
  },
  int: {
    params: ['default?', 'base?'],
    run: (value, [instead = 0n, base]) => integerOf(value, integer(base, 10)) ?? instead,
  },
  length,
  lower: text([], (given) => given.toLowerCase()),
  replace: text(['old', 'new', 'count?'], (given, [old = null, fresh = null, count = null]) =>
    replace(given, str(old), str(fresh), count === null ? -1 : integer(count)),
  ),
  round: {
    params: ['precision?', 'method?'],
    run: (value, [precision, method = 'common']) => round(value, integer(precision, 0), str(method)),
  },
  safe: { params: [], run: (value) => new Markup(str(value)) },
  string: { params: [], run: (value) => (value instanceof Markup ? value : str(value)) },
  title: text([], jinjaTitle),
  tojson: {
    params: ['ensure_ascii?', 'indent?', 'separators?', 'sort_keys?'],
    run: (value, [isAscii, indentBy, separators, sortKeys]) =>
      toJson(value, isAscii, indentBy, separators, sortKeys),
  },
  trim: text(['chars?'], (given, [characters = null]) =>
    strip(given, characters === null ? undefined : requireText(characters)),
  ),
  truncate: {
    params: ['length?', 'killwords?', 'end?', 'leeway?'],
    run: (value, [size, killWords = false, end = '...', leeway = null]) =>
      truncate(value, integer(size, 255), isTrue(killWords), str(end), leeway === null ? 5 : integer(leeway)),
  },
  upper: text([], (given) => given.toUpperCase()),
  urlencode: { params: [], run: urlEncode },
  wordcount: { params: [], run: (value) => BigInt(str(value).match(/[\p{L}\p{N}_]+/gu)?.length ?? 0) },
};

export function filterOf(name: string): Filter | undefined {
  return Object.hasOwn(FILTERS, name) ? FILTERS[name] : undefined;
}

const WORD_STARTS = new RegExp(`([-(<{[${SPACE}]+)`);

/** Jinja2's own `title`, which isn't that of Python's texts. */
function jinjaTitle(given: string): string {
  return given
    .split(WORD_STARTS)
    .map((part) => {
      const [first = ''] = part;
      return first.toUpperCase() + part.slice(first.length).toLowerCase();
    })
    .join('');
}

function indent(given: string, width: Value, isFirst: boolean, isBlank: boolean): string {
  const margin = textOf(width) ?? ' '.repeat(checkedWidth(integer(width)));
  const lines = splitLines(`${given}\n`);
  allocate(given.length + margin.length * (lines.length + 1));
  const indented = lines.map((line, i) => (i > 0 && (isBlank || line !== '') ? margin + line : line));
  return (isFirst ? margin : '') + indented.join('\n');
}

function checkedWidth(width: number): number {
  allocate(Math.max(0, width));
  return Math.max(0, width);
}

function truncate(value: Value, size: number, killsWords: boolean, end: string, leeway: number): Value {
  const endLength = charactersOf(end).length;
  if (size < endLength) throw new TemplateError(`expected length >= ${endLength}, got ${size}`);
  const ownLength = lengthOf(value);
  if (ownLength !== undefined && ownLength <= size + leeway) return value;
  const kept = Array.from(requireText(value))
    .slice(0, size - endLength)
    .join('');
  const space = kept.lastIndexOf(' ');
  return (killsWords || space < 0 ? kept : kept.slice(0, space)) + end;
}

function trimmed(value: string): string {
  let [start, end] = [0, value.length];
  while (start < end && isSpace(value[start] ?? '')) start += 1;
  while (end > start && isSpace(value[end - 1] ?? '')) end -= 1;
  return value.slice(start, end);
}

function floatOf(value: Value): number | undefined {
  if (value instanceof Undefined) value.fail();
  const given = textOf(value);
  if (given !== undefined) return parseFloat(trimmed(given));
  const number = numberOf(value);
  return number === undefined ? undefined : Number(number);
}

function integerOf(value: Value, base: number): bigint | undefined {
  if (value instanceof Undefined) value.fail();
  const given = textOf(value);
  const whole = given === undefined ? undefined : parseInteger(trimmed(given), base);
  if (whole !== undefined) return whole;
  const number = given === undefined ? numberOf(value) : parseFloat(trimmed(given));
  if (typeof number === 'bigint') return number;
  if (number === undefined || !Number.isFinite(number)) {
    // Python's float("inf") is no int, and that error isn't caught.
    if (given === undefined && number !== undefined && !Number.isNaN(number)) return undefined;
    return undefined;
  }
  return BigInt(Math.trunc(number));
}

function round(value: Value, precision: number, method: string): Value {
  const number = numberOf(value);
  if (!['common', 'ceil', 'floor'].includes(method))
    throw new TemplateError('method must be common, ceil or floor');
  if (value instanceof Undefined) value.fail();
  if (number === undefined)
    throw new TemplateError(`type ${typeName(value)} doesn't define __round__ method`);
  if (precision < 0 || precision > 100) throw new UnsupportedFeature('round() to tens, or to 100 decimals');
  if (method === 'common') {
    if (typeof number === 'bigint') return number;
    if (!Number.isFinite(number)) return number;
    const size = Number(precision === 0 ? scaled(Math.abs(number), 0) : fixed(number, precision));
    return number < 0 || Object.is(number, -0) ? -size : size;
  }
  const factor = 10 ** precision;
  const product = Number(number) * factor;
  return (method === 'ceil' ? Math.ceil(product) : Math.floor(product)) / factor;
}

/** `/` is kept outside of a query. */
function percentEncode(part: Value): string {
  return encodeURIComponent(str(part)).replaceAll(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

function urlEncode(value: Value): Value {
  if (textOf(value) !== undefined || iterableOf(value) === undefined)
    return percentEncode(value).replaceAll('%2F', '/');
  const pairs = value instanceof Dict ? [...value.entries] : [...iterate(value)].map(listOf);
  if (pairs.some((pair) => pair.length !== 2)) throw new TemplateError('urlencode takes pairs');
  return pairs
    .map((pair) => pair.map((part) => percentEncode(part).replaceAll('%20', '+')).join('='))
    .join('&');
}
