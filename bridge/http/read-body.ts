import type { IncomingMessage } from 'node:http';

import { HttpError } from './http-error.ts';

/** @throws HttpError 413 for a larger body; the rest is not read, and the connection closes with the refusal. */
export async function readBody(request: IncomingMessage, maxBytes: number): Promise<Buffer<ArrayBuffer>> {
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) throw HttpError.tooLarge(maxBytes);
  // Must not be destroyed when the loop ends early: the refusal leaves on the same connection.
  const arriving: AsyncIterable<Buffer> = request.iterator({ destroyOnReturn: false });
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of arriving) {
    size += part.length;
    if (size > maxBytes) throw HttpError.tooLarge(maxBytes);
    parts.push(part);
  }
  return Buffer.concat(parts);
}

/** More than any model in a tab takes. */
const MAX_BODY_BYTES = 2 ** 20;

/**
 * The whole body of a request for work. `refuse` makes the error for a body that ends early.
 *
 * @throws HttpError 400, 413, or 415 for a compressed body.
 */
export async function readWholeBody(
  request: IncomingMessage,
  refuse: (reason: string) => HttpError,
): Promise<Buffer<ArrayBuffer>> {
  const { 'content-encoding': encoding = 'identity' } = request.headers;
  if (encoding !== 'identity') throw HttpError.unsupportedBody('sent without Content-Encoding');
  try {
    return await readBody(request, MAX_BODY_BYTES);
  } catch (error) {
    throw error instanceof HttpError ? error : refuse('not all of it came');
  }
}

/** @throws The error that `refuse` makes, for a body that is not UTF-8. */
export function decodeUtf8(body: Buffer, refuse: (reason: string) => HttpError): string {
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
