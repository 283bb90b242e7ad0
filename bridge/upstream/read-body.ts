import type { IncomingMessage } from 'node:http';

/** A prompt of the longest contexts there are is a few MB. */
export const MAX_BODY_BYTES = 8 * 2 ** 20;

/** Undefined where it is larger than that; what comes after it is not read. */
export async function readBody(request: IncomingMessage): Promise<Buffer<ArrayBuffer> | undefined> {
  if (Number(request.headers['content-length'] ?? 0) > MAX_BODY_BYTES) return undefined;
  // Not destroyed where the loop ends early: the refusal goes out on the same connection.
  const arriving: AsyncIterable<Buffer> = request.iterator({ destroyOnReturn: false });
  const pieces: Buffer[] = [];
  let size = 0;
  for await (const piece of arriving) {
    size += piece.length;
    if (size > MAX_BODY_BYTES) return undefined;
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}
