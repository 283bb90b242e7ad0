import type { IncomingMessage } from 'node:http';

import { HttpError } from './http-error.ts';
import { decodeUtf8, mediaTypeOf, readWholeBody } from './read-body.ts';

/** More than any deployment needs, and shallow enough for recursive readers. */
const MAX_DEPTH = 64;

/**
 * The JSON body of a request.
 *
 * @throws HttpError 400, 413 or 415.
 */
export async function readJson(request: IncomingMessage): Promise<unknown> {
  if (mediaTypeOf(request) !== 'application/json') throw HttpError.unsupportedBody('application/json');
  const value = parse(decodeUtf8(await readWholeBody(request, notJson), notJson));
  checkStructure(value, 0);
  return value;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw notJson(error instanceof Error ? error.message : String(error));
  }
}

/** @throws HttpError for values that cannot be sent to the worker. */
function checkStructure(value: unknown, depth: number): void {
  if (typeof value !== 'object' || value === null) return;
  if (depth >= MAX_DEPTH) throw notJson(`it is nested deeper than ${MAX_DEPTH} levels`);
  if (Object.hasOwn(value, '__proto__')) throw notJson('a field is called __proto__');
  for (const entry of Object.values(value)) checkStructure(entry, depth + 1);
}

function notJson(reason: string): HttpError {
  return new HttpError(400, `The body is not JSON that can be taken: ${reason}.`, { code: 'INVALID_JSON' });
}
