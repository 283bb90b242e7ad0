import { isRecord } from '../../../platform/is-record.ts';
import { rangeMarker } from './integer-range.ts';
import { NUMBER_KEYWORDS, typesOf } from './json-types.ts';

type Fields = Readonly<Record<string, unknown>>;

/** The largest integer that the grammar writes, of 15 digits: each is exact in JavaScript. */
const LARGEST_INTEGER = 999_999_999_999_999;

/** Keywords whose value is a schema, a list of schemas, or a record of them. */
const SUBSCHEMAS = ['items', 'additionalProperties', 'prefixItems', 'anyOf', 'oneOf', 'allOf'];
const RECORDS = ['properties', '$defs', 'definitions'];

/** The schema as the library gets it right: with implied types named, and a marker for each range of integers. */
export function lowerSchema(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(lowerSchema);
  if (!isRecord(schema)) return schema;
  const {
    minimum: _from,
    maximum: _to,
    exclusiveMinimum: _above,
    exclusiveMaximum: _below,
    ...kept
  } = schema;
  const lowered = Object.entries(kept).map(([name, value]) => {
    if (SUBSCHEMAS.includes(name)) return [name, lowerSchema(value)];
    if (!RECORDS.includes(name) || !isRecord(value)) return [name, value];
    return [name, Object.fromEntries(Object.entries(value).map(([key, entry]) => [key, lowerSchema(entry)]))];
  });
  const types = typesOf(schema);
  const [type] = types;
  const others = { ...(type !== undefined && { type }), ...Object.fromEntries(lowered) };
  if (!hasRange(schema)) return others;
  const { minimum, maximum } = rangeOf(schema);
  const range = { const: rangeMarker(minimum, maximum) };
  const rest = types.filter((name) => name !== 'integer');
  return rest.length === 0 ? range : { anyOf: [range, { ...others, type: rest }] };
}

/** The integers from `minimum` to `maximum`, both included. */
export function rangeOf(schema: Fields): { readonly minimum: number; readonly maximum: number } {
  const bound = (name: string): number[] => (schema[name] === undefined ? [] : [Number(schema[name])]);
  return {
    minimum: Math.max(
      -LARGEST_INTEGER,
      ...bound('minimum'),
      ...bound('exclusiveMinimum').map((below) => below + 1),
    ),
    maximum: Math.min(
      LARGEST_INTEGER,
      ...bound('maximum'),
      ...bound('exclusiveMaximum').map((above) => above - 1),
    ),
  };
}

function hasRange(schema: Fields): boolean {
  return NUMBER_KEYWORDS.some((name) => schema[name] !== undefined);
}
