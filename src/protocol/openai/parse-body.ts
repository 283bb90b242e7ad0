import * as v from 'valibot';

import { HttpError } from './http-error.ts';
import { readFields, withoutNulls } from './fields.ts';

/**
 * Checks the fields of a body. The message of each part of the schema says what is expected.
 *
 * @throws HttpError 400.
 */
export function parseBody<Entries extends v.ObjectEntries>(
  schema: v.ObjectSchema<Entries, undefined>,
  body: unknown,
): v.InferOutput<v.ObjectSchema<Entries, undefined>> {
  const result = v.safeParse(schema, withoutNulls(readFields(body, Object.keys(schema.entries))), {
    abortEarly: true,
  });
  if (result.success) return result.output;
  const [{ type, message, path }] = result.issues;
  const param =
    path?.map(({ key }, depth) => (depth === 0 ? String(key) : `[${String(key)}]`)).join('') ?? 'body';
  // An object misses a field.
  const expected = type === 'object' ? 'given' : message;
  throw HttpError.expected(param, expected);
}
