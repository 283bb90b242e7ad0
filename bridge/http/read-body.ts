import type { IncomingMessage, ServerResponse } from 'node:http';

import { isMadeWhole, isRounded } from '../../src/batching/base/lost-digits.ts';
import { isVanishing, UNROUNDED } from '../../src/batching/base/rounded-integers.ts';
import { shown } from '../../src/batching/base/errors.ts';
import { parseOrderedJson, spellingOf } from '../../src/batching/base/ordered-json.ts';
import { describeJsonFault } from '../../src/protocol/json-fault.ts';
import { MAX_PROMPT_LENGTH } from '../../src/protocol/wire.ts';
import { reasonOf } from '../base/errors.ts';
import { HttpError } from '../../src/protocol/openai/http-error.ts';
import { bodyTooLarge, notJson } from './http-errors.ts';

/** More than any deployment needs, and shallow enough for recursive readers. */
const MAX_JSON_DEPTH = 64;

/** Makes the error for a body that cannot be read. */
type Refuse = (reason: string) => HttpError;

/** The answers to requests whose clients wait for a 100 before they send the body. */
const heldBodies = new WeakMap<IncomingMessage, ServerResponse>();

/**
 * A client that sent `Expect: 100-continue` sends its body once the bridge reads it. If the request is refused, the body is
 * never sent, and the connection closes with the answer.
 */
export function holdBody(request: IncomingMessage, response: ServerResponse): void {
  heldBodies.set(request, response);
  response.setHeader('Connection', 'close');
}

/** Tells a client that waits for a 100 to send its body. */
export function letBodyCome(request: IncomingMessage): void {
  const response = heldBodies.get(request);
  response?.removeHeader('Connection');
  response?.writeContinue();
}

/** @throws HttpError 413 for a larger body; the rest is not read, and the connection closes with the refusal. */
export async function readBody(request: IncomingMessage, maxBytes: number): Promise<Buffer<ArrayBuffer>> {
  const refuse = (): HttpError => bodyTooLarge(maxBytes);
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) throw refuse();
  letBodyCome(request);
  // Must not be destroyed when the loop ends early: the refusal leaves on the same connection.
  return collect(request.iterator({ destroyOnReturn: false }), maxBytes, refuse);
}

export type Pieces = AsyncIterable<Uint8Array> | Iterable<Uint8Array>;

/** @throws The error that `refuse` makes, for more than `maxBytes`. */
async function collect(
  arriving: Pieces,
  maxBytes: number,
  refuse: () => HttpError,
): Promise<Buffer<ArrayBuffer>> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of arriving) {
    size += part.length;
    if (size > maxBytes) throw refuse();
    parts.push(part);
  }
  return Buffer.concat(parts);
}

/**
 * The whole body of a request for work. `refuse` is called for a body that ends early.
 *
 * @throws HttpError 400, 413, or 415 for a compressed body.
 */
export async function readWholeBody(request: IncomingMessage, refuse: Refuse): Promise<Buffer<ArrayBuffer>> {
  const { 'content-encoding': encoding = 'identity' } = request.headers;
  if (encoding.trim().toLowerCase() !== 'identity')
    throw HttpError.unsupportedBody('sent without Content-Encoding');
  try {
    return await readBody(request, MAX_PROMPT_LENGTH);
  } catch (error) {
    throw error instanceof HttpError ? error : refuse('not all of it came');
  }
}

/** @throws The error that `refuse` makes, for a body that is not UTF-8. */
export function decodeUtf8(body: Buffer, refuse: Refuse): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(body);
  } catch {
    throw refuse('it is not UTF-8');
  }
}

/** The media type in lower case, without its parameters; '' for a request that names none. */
export function mediaTypeOf({ headers }: IncomingMessage): string {
  const [type = ''] = (headers['content-type'] ?? '').split(';');
  return type.trim().toLowerCase();
}

/**
 * The JSON body of a request. Keys stay in its order.
 *
 * @param parse By default numbers stay as they are written, but the objects may not be cloned.
 * @throws HttpError 400, 413 or 415.
 */
export async function readJson(request: IncomingMessage, parse: Parse = parseInOrder): Promise<unknown> {
  if (mediaTypeOf(request) !== 'application/json') throw HttpError.unsupportedBody('application/json');
  return readUntypedJson(request, parse);
}

/** As `readJson`, of any media type: some clients name none, or send what curl names by itself. */
export async function readUntypedJson(
  request: IncomingMessage,
  parse: Parse = parseInOrder,
): Promise<unknown> {
  return readJsonBytes(await readWholeBody(request, notJson), notJson, parse);
}

type Parse = (text: string) => unknown;

const parseInOrder: Parse = (text) => parseOrderedJson(text, MAX_JSON_DEPTH);

/** Gives plain objects, which may be cloned. @throws HttpError 400 for an integer that would be rounded. */
export function parseUnrounded(text: string): unknown {
  const value: unknown = JSON.parse(text);
  if (/\d{16}|\de/i.test(text)) {
    const spelled = parseInOrder(text);
    checkUnrounded(spelled);
    checkStructure(spelled, 0, notJson);
  }
  return value;
}

/** @param value As it was parsed in order. @throws HttpError 400 for an integer that would be rounded, by its place. */
export function checkUnrounded(value: unknown, place = ''): void {
  if (typeof value !== 'object' || value === null) return;
  for (const [key, part] of Object.entries(value)) {
    const name = Array.isArray(value) ? `${place}[${key}]` : place === '' ? key : `${place}.${key}`;
    const spelling = spellingOf(value, key);
    if (spelling !== undefined && isRounded(spelling)) throw HttpError.expected(name, UNROUNDED, spelling);
    checkUnrounded(part, name);
  }
}

/** @throws The error that `refuse` makes, for bytes that are not JSON, or JSON that cannot be sent to the worker. */
export function readJsonBytes(bytes: Buffer, refuse: Refuse, parse = parseInOrder): unknown {
  const text = decodeUtf8(bytes, refuse);
  let value: unknown;
  try {
    value = parse(text);
  } catch (error) {
    if (error instanceof HttpError) throw error;
    throw refuse(describeJsonFault(text) ?? reasonOf(error));
  }
  checkStructure(value, 0, refuse);
  return value;
}

/**
 * @param place As `messages[0].content`; '' for the whole.
 * @throws The error that `refuse` makes, for values that cannot be sent to the worker.
 */
function checkStructure(value: unknown, depth: number, refuse: Refuse, place = ''): void {
  if (typeof value === 'string' && !value.isWellFormed())
    throw refuse(`\`${shown(place)}\` has half a character: one surrogate without the other`);
  if (typeof value === 'number' && !Number.isFinite(value))
    throw refuse(`\`${shown(place)}\` is a number that is too large`);
  if (typeof value !== 'object' || value === null) return;
  if (depth >= MAX_JSON_DEPTH) throw refuse(`it is nested deeper than ${MAX_JSON_DEPTH} levels`);
  if (Object.hasOwn(value, '__proto__')) throw refuse('a field is called __proto__');
  for (const [name, entry] of Object.entries(value)) {
    if (!name.isWellFormed()) throw refuse(`the name of a field in \`${shown(place)}\` has half a character`);
    const inner = place + (Array.isArray(value) ? `[${name}]` : `${place && '.'}${name}`);
    if (isVanishing(spellingOf(value, name) ?? ''))
      throw refuse(`\`${shown(inner)}\` is a number that is too small: it would be 0`);
    if (isMadeWhole(spellingOf(value, name) ?? ''))
      throw refuse(`\`${shown(inner)}\` has too many digits: it would be ${String(entry)}`);
    checkStructure(entry, depth + 1, refuse, inner);
  }
}
