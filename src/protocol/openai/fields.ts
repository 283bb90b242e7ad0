import { isRecord } from '../../platform/is-record.ts';
import { spellingOf } from '../../batching/base/ordered-json.ts';
import { isRounded } from '../../batching/base/lost-digits.ts';
import { UNROUNDED } from '../../batching/base/rounded-integers.ts';
import { HttpError } from './http-error.ts';
import * as v from 'valibot';

/**
 * @param parts Parts of fields, as `reasoning.effort`, that other APIs have as fields: their messages name them.
 * @throws HttpError 400 for a value that is not an object, for fields other than the known ones, if they are given, and for an
 *   integer that is rounded.
 */
export function readFields(
  body: unknown,
  known?: readonly string[],
  parts: readonly string[] = [],
): Readonly<Record<string, unknown>> {
  if (!isRecord(body)) throw HttpError.invalid('body', 'Expected the body to be a JSON object.');
  for (const name of Object.keys(body)) {
    if (known && !known.includes(name)) throw HttpError.unknown(name, [...known, ...parts]);
    const spelling = spellingOf(body, name) ?? '';
    if (isRounded(spelling)) throw HttpError.expected(name, UNROUNDED, spelling);
  }
  return body;
}

/** Clients of OpenAI's and vLLM's API send null for a field that is left out. */
export function withoutNulls(fields: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null));
}

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
