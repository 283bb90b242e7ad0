import type { IncomingMessage } from 'node:http';

import { HttpError } from './http-error.ts';
import { readBody } from './read-body.ts';

const MAX_BODY_BYTES = 2 ** 20;

/** Deeper than any input of a deployment needs, and far from what a recursive reader could not take. */
const MAX_DEPTH = 64;

/**
 * The JSON body of a request.
 *
 * @throws HttpError 400, 413 or 415.
 */
export async function readJson(request: IncomingMessage): Promise<unknown> {
  const { 'content-type': type = '', 'content-encoding': encoding = 'identity' } = request.headers;
  if (!/^application\/json\s*(?:;|$)/i.test(type)) throw HttpError.unsupportedBody('application/json');
  if (encoding !== 'identity') throw HttpError.unsupportedBody('sent without Content-Encoding');
  const value = parse(decode(await readWhole(request)));
  checkStructure(value, 0);
  return value;
}

async function readWhole(request: IncomingMessage): Promise<Buffer> {
  try {
    return await readBody(request, MAX_BODY_BYTES);
  } catch (error) {
    throw error instanceof HttpError ? error : notJson('not all of it came');
  }
}

function decode(body: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(body);
  } catch {
    throw notJson('it is not UTF-8');
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw notJson(error instanceof Error ? error.message : String(error));
  }
}

/** @throws HttpError for what the way to the worker does not take. */
function checkStructure(value: unknown, depth: number): void {
  if (typeof value !== 'object' || value === null) return;
  if (depth >= MAX_DEPTH) throw notJson(`it is nested deeper than ${MAX_DEPTH} levels`);
  if (Object.hasOwn(value, '__proto__')) throw notJson('a field is called __proto__');
  for (const entry of Object.values(value)) checkStructure(entry, depth + 1);
}

function notJson(reason: string): HttpError {
  return new HttpError(400, `The body is not JSON that can be taken: ${reason}.`, { code: 'INVALID_JSON' });
}
