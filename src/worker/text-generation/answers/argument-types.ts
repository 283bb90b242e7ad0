import type { JsonRecord } from '../../../batching/base/validate-compound.ts';
import { isRecord } from '../../../platform/is-record.ts';
import { pythonValue } from './python-arguments.ts';

const TYPES = ['string', 'number', 'integer', 'boolean', 'null', 'array', 'object'] as const;
type JsonType = (typeof TYPES)[number];

/** Schemas that refer to each other in a circle. */
const MAX_REFERENCES = 16;

/** The types of the values that a schema takes. @param root Has what it refers to. */
export function typesOf(schema: unknown, root: JsonRecord): ReadonlySet<JsonType> {
  const resolved = resolve(schema, root);
  if (!isRecord(resolved)) return new Set(TYPES);
  const { type, anyOf, oneOf } = resolved;
  const values = valuesOf(resolved);
  if (values) return new Set(values.flatMap((value) => [...typesOfValue(value)]));
  if (type !== undefined) return new Set(TYPES.filter((name) => [type].flat().includes(name)));
  const branches = Array.isArray(anyOf) ? anyOf : oneOf;
  if (!Array.isArray(branches)) return new Set(TYPES);
  return new Set(branches.flatMap((branch: unknown) => [...typesOf(branch, root)]));
}

/** The values that a schema lists. */
export function valuesOf(schema: JsonRecord): readonly unknown[] | undefined {
  if (Array.isArray(schema['enum'])) return schema['enum'];
  return 'const' in schema ? [schema['const']] : undefined;
}

/** The schema behind a reference into its root; the schema itself if it has none. */
export function resolve(schema: unknown, root: JsonRecord): unknown {
  let found = schema;
  for (let count = 0; count < MAX_REFERENCES; count += 1) {
    const reference = isRecord(found) ? found['$ref'] : undefined;
    if (typeof reference !== 'string' || !reference.startsWith('#/')) return found;
    const path = reference.slice(2).split('/');
    found = path.reduce<unknown>((part, key) => (isRecord(part) ? part[key] : undefined), root);
  }
  return found;
}

/** A value that a model has written without quotes, as JSON of one of these types: a text where it is nothing else. */
export function jsonOf(text: string, types: ReadonlySet<JsonType>): string {
  const isOneOf = (json: string | undefined): json is string =>
    json !== undefined && typesOfJson(json).some((type) => type !== 'string' && types.has(type));
  const written = text.trim();
  return [written, pythonValue(written)].find(isOneOf) ?? JSON.stringify(text);
}

function typesOfJson(json: string): readonly JsonType[] {
  try {
    return typesOfValue(JSON.parse(json));
  } catch {
    return [];
  }
}

function typesOfValue(value: unknown): readonly JsonType[] {
  if (value === null) return ['null'];
  if (Array.isArray(value)) return ['array'];
  if (typeof value === 'number') return Number.isInteger(value) ? ['integer', 'number'] : ['number'];
  return TYPES.filter((type) => type === typeof value);
}
