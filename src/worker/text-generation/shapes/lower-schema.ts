import { isRecord } from '../../../platform/is-record.ts';
import { rangeMarker, type NumberRange } from './number-range.ts';
import { NUMBER_KEYWORDS, typesOf } from './json-types.ts';
import type { OtherKeys } from './other-keys.ts';
import type { StringLengths } from './string-lengths.ts';

type Fields = Readonly<Record<string, unknown>>;

/** The largest number that the grammar writes has 15 digits, decimals included: each is exact in JavaScript. */
const LARGEST_UNITS = 999_999_999_999_999;
const NUM_DECIMALS = 6;
const FRACTION = /^-?\d{1,9}(?:\.\d{1,6})?$/;

/** Keywords whose value is a schema, a list of schemas, or a record of them. */
const SUBSCHEMAS = ['items', 'additionalProperties', 'prefixItems', 'anyOf', 'oneOf', 'allOf'];
const RECORDS = ['properties', '$defs', 'definitions'];

/** What the library doesn't get right, and stands in the schema under other names. */
interface Marked {
  readonly otherKeys: OtherKeys;
  readonly lengths: StringLengths;
}

/** The schema as the library gets it right: implied types named, and marks for ranges of numbers, lengths of strings and other keys. */
export function lowerSchema(schema: unknown, marked: Marked): unknown {
  const { otherKeys } = marked;
  const lowered = lowerPart(schema, marked);
  const { definitions } = otherKeys;
  if (!isRecord(lowered) || Object.keys(definitions).length === 0) return lowered;
  const { $defs } = lowered;
  return { ...lowered, $defs: { ...(isRecord($defs) && $defs), ...definitions } };
}

function lowerPart(schema: unknown, marked: Marked): unknown {
  const lower = (part: unknown): unknown => lowerPart(part, marked);
  if (Array.isArray(schema)) return schema.map(lower);
  if (!isRecord(schema)) return schema;
  const {
    minimum: _from,
    maximum: _to,
    exclusiveMinimum: _above,
    exclusiveMaximum: _below,
    minLength,
    maxLength,
    ...kept
  } = schema;
  const keys = isRecord(schema['properties']) ? Object.keys(schema['properties']) : [];
  const lowered = Object.entries(kept).map(([name, value]) => {
    if (name === 'additionalProperties' && value !== false && keys.length > 0)
      return [name, marked.otherKeys.refer(keys, lower(value))];
    if (SUBSCHEMAS.includes(name)) return [name, lower(value)];
    if (!RECORDS.includes(name) || !isRecord(value)) return [name, value];
    return [name, Object.fromEntries(Object.entries(value).map(([key, entry]) => [key, lower(entry)]))];
  });
  const types = typesOf(schema);
  const [type] = types;
  const others = { ...(type !== undefined && { type }), ...Object.fromEntries(lowered) };
  const ranges = hasRange(schema) ? [rangeMarker(rangeOf(schema))] : [];
  const hasLength = minLength !== undefined || maxLength !== undefined;
  const strings = hasLength
    ? [marked.lengths.markerOf({ min: Number(minLength ?? 0), max: Number(maxLength ?? Infinity) })]
    : [];
  if (ranges.length + strings.length === 0) return others;
  const markers = [...ranges, ...strings].map((marker) => ({ const: marker }));
  const isMarked = (name: unknown): boolean =>
    name === 'string' ? hasLength : (name === 'integer' || name === 'number') && ranges.length > 0;
  const rest = types.filter((name) => !isMarked(name));
  if (rest.length > 0) return { anyOf: [...markers, { ...others, type: rest }] };
  const [only] = markers;
  return markers.length === 1 ? only : { anyOf: markers };
}

/** The numbers that a schema with bounds allows; integers unless it has the type `number`. */
export function rangeOf(schema: Fields): NumberRange {
  const numDecimals = typesOf(schema).includes('number') ? NUM_DECIMALS : 0;
  const bound = (name: string, offset: number): readonly number[] =>
    schema[name] === undefined ? [] : [Math.round(Number(schema[name]) * 10 ** numDecimals) + offset];
  return {
    from: Math.max(-LARGEST_UNITS, ...bound('minimum', 0), ...bound('exclusiveMinimum', 1)),
    to: Math.min(LARGEST_UNITS, ...bound('maximum', 0), ...bound('exclusiveMaximum', -1)),
    numDecimals,
  };
}

/** Whether a range of numbers that may be fractions can have a bound. */
export function isFractionBound(value: unknown): boolean {
  return typeof value === 'number' && FRACTION.test(String(value));
}

function hasRange(schema: Fields): boolean {
  return NUMBER_KEYWORDS.some((name) => schema[name] !== undefined);
}
