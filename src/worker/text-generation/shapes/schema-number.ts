import type { Expression } from './expressions.ts';
import type { JsonLanguage } from './json-language.ts';
import { Multiples } from './multiples.ts';
import { rangePattern, type NumberRange } from './number-range.ts';
import type { Work } from './pace.ts';
import { refusal, type Fields } from './schema-parts.ts';

const BOUNDS = ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum'];

/** The largest number that is written has 15 digits, decimals included: each is exact in JavaScript. */
const LARGEST_UNITS = 999_999_999_999_999;
const NUM_DECIMALS = 6;
const DIVISOR = /^\d{1,9}(?:\.\d{1,6})?$/;
const FRACTION = /^-?\d{1,9}(?:\.\d{1,6})?$/;

/** Numbers within their bounds, and multiples. @throws ResponseFormatUnsupportedError. */
export function* numberLanguage(
  schema: Fields,
  type: 'number' | 'integer',
  param: string,
  json: JsonLanguage,
): Work<Expression> {
  const isNarrow = schema['format'] === 'int32';
  const bounds = withoutFarBounds(isNarrow ? narrowed(schema) : schema, type);
  const given = BOUNDS.filter((name) => bounds[name] !== undefined);
  const { multipleOf } = schema;
  const isBounded = BOUNDS.some((name) => schema[name] !== undefined);
  if (!isNarrow && !isBounded && multipleOf === undefined) return json[type];
  const isFraction = type === 'number';
  const isBound = (value: unknown): boolean =>
    isFraction ? typeof value === 'number' && FRACTION.test(String(value)) : Number.isSafeInteger(value);
  const wrong = given.find((name) => !isBound(bounds[name]));
  if (wrong !== undefined)
    throw refusal(
      `${param}.${wrong}`,
      isFraction
        ? 'is not a number of at most 9 digits and 6 decimals'
        : 'is not an integer of at most 15 digits',
      'write one, or leave it out',
    );
  if (multipleOf !== undefined) return multiplesOf(bounds, multipleOf, type, param, json);
  const range = rangeOf(bounds, isFraction ? NUM_DECIMALS : 0);
  if (range.from > range.to) throw noNumber(bounds, isFraction ? NUM_DECIMALS : 0, param);
  return yield* json.pattern(rangePattern(range), param);
}

function multiplesOf(
  schema: Fields,
  divisor: unknown,
  type: 'number' | 'integer',
  param: string,
  { make }: JsonLanguage,
): Expression {
  const [, decimals = ''] = String(divisor).split('.');
  if (typeof divisor !== 'number' || divisor <= 0)
    throw refusal(`${param}.multipleOf`, 'is not a number above 0', 'write one, or leave it out');
  if (!DIVISOR.test(String(divisor)))
    throw refusal(
      `${param}.multipleOf`,
      'is not a number of at most 9 digits and 6 decimals',
      'use fewer digits',
    );
  const units = 10 ** decimals.length;
  const inUnits = Math.round(divisor * units);
  const step = type === 'number' ? inUnits : inUnits / greatestCommonDivisor(inUnits, units);
  const numDecimals = type === 'number' ? decimals.length : 0;
  const start = new Multiples(rangeOf(schema, numDecimals), divisor, step).at('');
  if (!start) throw noNumber(schema, numDecimals, param);
  return make.machine(start);
}

function greatestCommonDivisor(a: number, b: number): number {
  return b === 0 ? a : greatestCommonDivisor(b, a % b);
}

/** @param bounds Between which no number is that can be written. */
function noNumber(bounds: Fields, numDecimals: number, param: string) {
  const { from, to } = rangeOf(bounds, numDecimals, Infinity);
  const isFar = from > LARGEST_UNITS || to < -LARGEST_UNITS;
  return isFar
    ? refusal(param, 'allows only numbers of more than 15 digits, which are not written', 'use a string')
    : refusal(param, 'allows no number', 'raise the maximum, or lower the minimum');
}

/** Without bounds that all numbers keep that are written. */
function withoutFarBounds(schema: Fields, type: 'number' | 'integer'): Fields {
  const largest = type === 'number' ? LARGEST_UNITS / 10 ** NUM_DECIMALS : LARGEST_UNITS;
  const isFar = (name: string): boolean => {
    const bound = schema[name];
    return typeof bound === 'number' && (/min/i.test(name) ? bound < -largest : bound > largest);
  };
  return Object.fromEntries(BOUNDS.filter((name) => !isFar(name)).map((name) => [name, schema[name]]));
}

/** The bounds of `int32`, and own ones that are closer. */
function narrowed(schema: Fields): Fields {
  const { minimum = -(2 ** 31), maximum = 2 ** 31 - 1 } = schema;
  return {
    ...schema,
    minimum: typeof minimum === 'number' ? Math.max(minimum, -(2 ** 31)) : minimum,
    maximum: typeof maximum === 'number' ? Math.min(maximum, 2 ** 31 - 1) : maximum,
  };
}

function rangeOf(schema: Fields, numDecimals: number, largest = LARGEST_UNITS): NumberRange {
  const bound = (name: string, round: (units: number) => number, offset: number): readonly number[] =>
    schema[name] === undefined ? [] : [round(unitsOf(Number(schema[name]), numDecimals)) + offset];
  const [least, most] = [
    [...bound('minimum', Math.ceil, 0), ...bound('exclusiveMinimum', Math.floor, 1)],
    [...bound('maximum', Math.floor, 0), ...bound('exclusiveMaximum', Math.ceil, -1)],
  ];
  return {
    from: Math.max(-largest, ...least),
    to: Math.min(largest, ...most),
    numDecimals,
  };
}

/** How many units of the last decimal a bound has. Its own decimals are exact. */
function unitsOf(bound: number, numDecimals: number): number {
  if (Number.isInteger(bound)) return bound * 10 ** numDecimals;
  return Math.round(bound * 10 ** NUM_DECIMALS) / 10 ** (NUM_DECIMALS - numDecimals);
}
