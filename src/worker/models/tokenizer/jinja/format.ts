import { allocate, sized, spend } from './bounds.ts';
import { numberOf, textOf } from './compare.ts';
import { Dict, Range, Tuple } from './containers.ts';
import { fixed, integer, scientific } from './numbers.ts';
import { escapeCharacter, floatText, integerText, repr, str } from './print.ts';
import {
  isList,
  charactersOf,
  TemplateError,
  typeName,
  Undefined,
  UnsupportedFeature,
  type Arguments,
  type Value,
} from './values.ts';

const MAX_PRECISION = 400;

interface Spec {
  readonly fill: string;
  readonly align: string;
  readonly sign: string;
  readonly isAlternate: boolean;
  readonly width: number;
  readonly grouping: string;
  readonly precision: number | undefined;
  readonly type: string;
}

const PERCENT = /%(?:\(([^()]*)\))?([-+ #0]*)(\*|\d+)?(?:\.(\*|\d*))?[hlL]?([^])?/gu;

/** `format % args`. @throws TemplateError as Python's TypeError. */
export function percent(format: string, args: Value): string {
  spend(format.length);
  const items = args instanceof Tuple ? args.items : [args];
  let used = 0;
  const take = (): Value => {
    const item = items[used];
    if (item === undefined) throw new TemplateError('not enough arguments for format string');
    used += 1;
    return item;
  };
  const result = format.replaceAll(
    PERCENT,
    (_, key: string | undefined, flags: string, width?: string, precision?: string, type?: string) => {
      if (type === '%') return '%';
      if (type === undefined) throw new TemplateError('incomplete format');
      const readNumber = (text = '0') => (text === '*' ? integer(take()) : Number(text));
      const minWidth = readNumber(width);
      const numDigits = precision === undefined ? undefined : readNumber(precision || '0');
      const value = key === undefined ? take() : memberOf(args, key);
      return pad(convert(value, type, numDigits, flags), {
        fill: flags.includes('0') && !flags.includes('-') && !'srac'.includes(type) ? '0' : ' ',
        align:
          flags.includes('-') || minWidth < 0
            ? '<'
            : flags.includes('0') && !'srac'.includes(type)
              ? '='
              : '>',
        width: Math.abs(minWidth),
      });
    },
  );
  const isMapping = isList(args) || [Dict, Range, Undefined].some((type) => args instanceof type);
  if (used < items.length && !isMapping)
    throw new TemplateError('not all arguments converted during string formatting');
  return sized(result);
}

function memberOf(args: Value, key: string): Value {
  if (!(args instanceof Dict)) throw new TemplateError('format requires a mapping');
  const value = args.get(key);
  if (value === undefined) throw new TemplateError(`'${key}'`);
  return value;
}

function convert(value: Value, type: string, precision: number | undefined, flags: string): string {
  if (type === 's' || type === 'r' || type === 'a') {
    const text = type === 's' ? str(value) : type === 'r' ? repr(value) : ascii(value);
    return precision === undefined ? text : beginning(text, precision);
  }
  if (type === 'c') {
    const text = textOf(value);
    if (text !== undefined && charactersOf(text).length === 1) return text;
    return characterOf(integer(value));
  }
  const number = numberOf(value);
  if (number === undefined || !'diuxXofFeEgG'.includes(type))
    throw new TemplateError(`%${type} format: a real number is required, not ${typeName(value)}`);
  const sign = flags.includes('+') ? '+' : flags.includes(' ') ? ' ' : '';
  const spec = { sign, isAlternate: flags.includes('#'), grouping: '', precision };
  if (!'diuxXo'.includes(type)) return floatIn(Number(number), { ...spec, type });
  if (typeof number !== 'bigint' && 'xXo'.includes(type))
    throw new TemplateError(`%${type} format: an integer is required, not float`);
  const whole = typeof number === 'bigint' ? number : BigInt(Math.trunc(number));
  return integerIn(whole, { ...spec, type: 'diu'.includes(type) ? 'd' : type });
}

function characterOf(code: number): string {
  if (code < 0 || code > 0x10_ff_ff) throw new TemplateError('%c arg not in range(0x110000)');
  return String.fromCodePoint(code);
}

function ascii(value: Value): string {
  return repr(value).replaceAll(/[^\0-\x7f]/gu, escapeCharacter);
}

const SPEC = /^(?:([^])?([<>=^]))?([-+ ])?(#)?(0)?(\d+)?([,_])?(?:\.(\d+))?([a-zA-Z%])?$/u;

/** `format(value, spec)`. @throws TemplateError as Python's ValueError. */
function formatted(value: Value, given: string): string {
  if (given === '') return str(value);
  const match = SPEC.exec(given);
  const number = textOf(value) === undefined ? numberOf(value) : undefined;
  if (number === undefined && textOf(value) === undefined)
    throw new TemplateError(`unsupported format string passed to ${typeName(value)}.__format__`);
  if (!match) throw new TemplateError(`Invalid format specifier '${given}'`);
  const [, fill, align, sign = '', alternate, zero, width = '0', grouping = '', precision, type = ''] = match;
  const spec: Spec = {
    fill: fill ?? (zero ? '0' : ' '),
    align: align ?? (number === undefined ? '<' : zero ? '=' : '>'),
    sign,
    isAlternate: alternate !== undefined,
    width: Number(width),
    grouping,
    precision: precision === undefined ? undefined : Number(precision),
    type,
  };
  if (spec.fill === '0' && spec.align === '=' && grouping !== '' && number !== undefined)
    throw new UnsupportedFeature(`the format ${given}`);
  return pad(number === undefined ? textIn(str(value), spec) : numberIn(value, number, spec), spec);
}

function textIn(text: string, { type, precision, align, grouping, sign, isAlternate }: Spec): string {
  if (sign !== '' || isAlternate) throw new TemplateError('Sign not allowed in string format specifier');
  if ((type !== '' && type !== 's') || align === '=' || grouping !== '')
    throw new TemplateError(`Unknown format code '${type}' for object of type 'str'`);
  return precision === undefined ? text : beginning(text, precision);
}

function beginning(text: string, length: number): string {
  return Array.from(charactersOf(text)).slice(0, length).join('');
}

function numberIn(value: Value, number: bigint | number, spec: Spec): string {
  if (spec.type === 'c' || spec.type === 'n')
    throw new UnsupportedFeature(`a format of the type ${spec.type}`);
  if (spec.grouping === ',' && 'xXob'.includes(spec.type) && spec.type !== '')
    throw new TemplateError(`Cannot specify ',' with '${spec.type}'.`);
  if (typeof number === 'bigint' && ['', 'd', 'x', 'X', 'o', 'b'].includes(spec.type)) {
    if (spec.precision !== undefined)
      throw new TemplateError('Precision not allowed in integer format specifier');
    return integerIn(number, spec);
  }
  if (!['', 'f', 'F', 'e', 'E', 'g', 'G', '%'].includes(spec.type))
    throw new TemplateError(`Unknown format code '${spec.type}' for object of type '${typeName(value)}'`);
  return floatIn(Number(number), spec);
}

type NumberSpec = Pick<Spec, 'sign' | 'isAlternate' | 'grouping' | 'precision' | 'type'>;

function integerIn(value: bigint, { sign, isAlternate, grouping, precision = 0, type }: NumberSpec): string {
  const base = { x: 16, X: 16, o: 8, b: 2 }[type] ?? 10;
  const size = value < 0n ? -value : value;
  const digits = (base === 10 ? integerText(size) : size.toString(base)).padStart(precision, '0');
  const prefix = isAlternate && base !== 10 ? `0${type}` : '';
  return (
    signed(value < 0n, sign) + prefix + group(type === 'X' ? digits.toUpperCase() : digits, grouping, base)
  );
}

function signed(isNegative: boolean, sign: string): string {
  return isNegative ? '-' : sign === '-' ? '' : sign;
}

function group(digits: string, grouping: string, base = 10): string {
  if (grouping === '') return digits;
  return digits.replaceAll(base === 10 ? /\B(?=(?:\d{3})+$)/g : /\B(?=(?:[\da-f]{4})+$)/gi, grouping);
}

function floatIn(value: number, spec: NumberSpec): string {
  const { sign, grouping, type, isAlternate, precision } = spec;
  if (isAlternate) throw new UnsupportedFeature('the flag # in a format of a float');
  if ((precision ?? 0) > MAX_PRECISION) throw new UnsupportedFeature(`a format with ${precision} decimals`);
  const text = Number.isFinite(value) ? digitsOf(value, spec) : floatText(Math.abs(value));
  const [, whole = '', rest = ''] = /^(\d*)(.*)$/s.exec(text) ?? [];
  const isNegative = value < 0 || Object.is(value, -0);
  const result = signed(isNegative, sign) + group(whole, grouping) + rest;
  return type === type.toUpperCase() && type !== '%' && type !== '' ? result.toUpperCase() : result;
}

function digitsOf(value: number, { type, precision }: NumberSpec): string {
  switch (type.toLowerCase()) {
    case 'f':
      return fixed(value, precision ?? 6);
    case '%':
      return `${fixed(value * 100, precision ?? 6)}%`;
    case 'e': {
      const [digits, exponent] = scientific(value, precision ?? 6);
      return inScientific(digits, exponent);
    }
    default:
      if (precision === undefined && type === '') return floatText(Math.abs(value));
      return general(value, precision ?? 6, type === '');
  }
}

function inScientific(digits: string, exponent: number): string {
  const point = digits.length > 1 ? '.' : '';
  const power = String(Math.abs(exponent)).padStart(2, '0');
  return `${digits.slice(0, 1)}${point}${digits.slice(1)}e${exponent < 0 ? '-' : '+'}${power}`;
}

/** Python's `g`, and its format without a type, which keeps one decimal. */
function general(value: number, precision: number, hasDecimal: boolean): string {
  const numDigits = Math.max(1, precision);
  const [digits, exponent] = scientific(value, numDigits - 1);
  const kept = digits.replace(/0+$/, '') || '0';
  if (exponent < -4 || exponent >= (hasDecimal ? numDigits - 1 : numDigits))
    return inScientific(kept, exponent);
  const plain = fixed(value, Math.max(0, kept.length - 1 - exponent));
  return hasDecimal && !plain.includes('.') ? `${plain}.0` : plain;
}

function pad(text: string, { fill, align, width }: Pick<Spec, 'fill' | 'align' | 'width'>): string {
  allocate(width);
  const missing = Math.max(0, width - charactersOf(text).length);
  if (align === '=') {
    const [, start = '', rest = ''] = /^([-+ ]?(?:0[xXob](?=[\da-f]))?)(.*)$/is.exec(text) ?? [];
    return start + fill.repeat(missing) + rest;
  }
  const before = align === '<' ? 0 : align === '^' ? Math.floor(missing / 2) : missing;
  return fill.repeat(before) + text + fill.repeat(missing - before);
}

const FIELD = /\{\{|\}\}|\{([^{}!:]*)(?:!([rsa]))?(?::([^{}]*))?\}|[{}]/g;

/** `text.format(...)`. @throws TemplateError as Python's errors. */
export function formatText(
  text: string,
  { positional, named }: Arguments,
  memberOfValue: (value: Value, path: string) => Value,
): string {
  spend(text.length);
  let next = 0;
  let isManual: boolean | undefined;
  return sized(
    text.replaceAll(FIELD, (field, name?: string, conversion?: string, spec = '') => {
      if (field === '{{' || field === '}}') return field.slice(1);
      if (name === undefined) throw new UnsupportedFeature('nested or single braces in the text of format()');
      const [, first = '', path = ''] = /^([^.[]*)(.*)$/s.exec(name) ?? [];
      const isIndex = /^\d*$/.test(first);
      isManual ??= isIndex ? first !== '' : undefined;
      if (isIndex && isManual !== (first !== ''))
        throw new TemplateError(
          'cannot switch between manual field specification and automatic field numbering',
        );
      const index = first === '' ? next++ : Number(first);
      const root = isIndex ? positional[index] : named.get(first);
      if (root === undefined)
        throw new TemplateError(
          isIndex ? `Replacement index ${index} out of range for positional args tuple` : `'${first}'`,
        );
      const value = memberOfValue(root, path);
      const converted =
        conversion === undefined
          ? value
          : conversion === 's'
            ? str(value)
            : conversion === 'r'
              ? repr(value)
              : ascii(value);
      return formatted(converted, spec);
    }),
  );
}
