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
  const given = BOUNDS.filter((name) => schema[name] !== undefined);
  const { multipleOf } = schema;
  if (given.length === 0 && multipleOf === undefined) return json[type];
  const isFraction = type === 'number';
  const isBound = (value: unknown): boolean =>
    isFraction ? typeof value === 'number' && FRACTION.test(String(value)) : Number.isSafeInteger(value);
  const wrong = given.find((name) => !isBound(schema[name]));
  if (wrong !== undefined)
    throw refusal(
      `${param}.${wrong}`,
      isFraction
        ? 'is not a number of at most 9 digits and 6 decimals'
        : 'is not an integer of at most 15 digits',
      'write one, or leave it out',
    );
  if (multipleOf !== undefined) return multiplesOf(schema, multipleOf, type, param, json);
  const range = rangeOf(schema, isFraction ? NUM_DECIMALS : 0);
  if (range.from > range.to)
    throw refusal(param, 'allows no number', 'raise the maximum, or lower the minimum');
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
  if (!start) throw refusal(param, 'allows no number', 'widen its bounds');
  return make.machine(start);
}

function greatestCommonDivisor(a: number, b: number): number {
  return b === 0 ? a : greatestCommonDivisor(b, a % b);
}

function rangeOf(schema: Fields, numDecimals: number): NumberRange {
  const bound = (name: string, round: (units: number) => number, offset: number): readonly number[] =>
    schema[name] === undefined ? [] : [round(unitsOf(Number(schema[name]), numDecimals)) + offset];
  const [least, most] = [
    [...bound('minimum', Math.ceil, 0), ...bound('exclusiveMinimum', Math.floor, 1)],
    [...bound('maximum', Math.floor, 0), ...bound('exclusiveMaximum', Math.ceil, -1)],
  ];
  return {
    from: Math.max(-LARGEST_UNITS, ...least),
    to: Math.min(LARGEST_UNITS, ...most),
    numDecimals,
  };
}

/** How many units of the last decimal a bound has. Its own decimals are exact. */
function unitsOf(bound: number, numDecimals: number): number {
  if (Number.isInteger(bound)) return bound * 10 ** numDecimals;
  return Math.round(bound * 10 ** NUM_DECIMALS) / 10 ** (NUM_DECIMALS - numDecimals);
}
