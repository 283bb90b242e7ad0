import { isRecord } from '../../../platform/is-record.ts';
import { NUMBER_KEYWORDS, typesOf } from './json-types.ts';

type Fields = Readonly<Record<string, unknown>>;

/** The largest integer that the grammar writes, of 15 digits: each is exact in JavaScript. */
const LARGEST_INTEGER = 999_999_999_999_999;

/** Keywords whose value is a schema, a list of schemas, or a record of them. */
const SUBSCHEMAS = ['items', 'additionalProperties', 'prefixItems', 'anyOf', 'oneOf', 'allOf'];
const RECORDS = ['properties', '$defs', 'definitions'];

/** The schema as the library gets it right: it closes ranges of integers, and has the wrong values in those that are open. */
export function lowerSchema(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(lowerSchema);
  if (!isRecord(schema)) return schema;
  const { exclusiveMinimum: _above, exclusiveMaximum: _below, ...kept } = schema;
  const lowered = Object.entries(kept).map(([name, value]) => {
    if (SUBSCHEMAS.includes(name)) return [name, lowerSchema(value)];
    if (!RECORDS.includes(name) || !isRecord(value)) return [name, value];
    return [name, Object.fromEntries(Object.entries(value).map(([key, entry]) => [key, lowerSchema(entry)]))];
  });
  const [type] = typesOf(schema);
  return {
    ...(type !== undefined && { type }),
    ...Object.fromEntries(lowered),
    ...(hasRange(schema) && rangeOf(schema)),
  };
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
