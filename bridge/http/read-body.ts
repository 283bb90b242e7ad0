import type { IncomingMessage } from 'node:http';

import { HttpError } from './http-error.ts';

/** @throws HttpError 413 where it is larger; what comes after that is not read, and the connection closes with the refusal. */
export async function readBody(request: IncomingMessage, maxBytes: number): Promise<Buffer<ArrayBuffer>> {
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) throw HttpError.tooLarge(maxBytes);
  // Not destroyed where the loop ends early: the refusal goes out on the same connection.
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
