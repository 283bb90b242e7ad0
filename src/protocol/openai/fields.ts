import { isRecord } from '../../platform/is-record.ts';
import { HttpError } from './http-error.ts';

/**
 * @param parts Parts of fields, as `reasoning.effort`, that other APIs have as fields: their messages name them.
 * @throws HttpError 400 for a value that is not an object, and for fields other than the known ones, if they are given.
 */
export function readFields(
  body: unknown,
  known?: readonly string[],
  parts: readonly string[] = [],
): Readonly<Record<string, unknown>> {
  if (!isRecord(body)) throw HttpError.invalid('body', 'Expected the body to be a JSON object.');
  for (const name of Object.keys(body))
    if (known && !known.includes(name)) throw HttpError.unknown(name, [...known, ...parts]);
  return body;
}

/** Clients of OpenAI's and vLLM's API send null for a field that is left out. */
export function withoutNulls(fields: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null));
}
