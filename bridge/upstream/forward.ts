import { once } from 'node:events';

import type { Exchange } from '../http/exchange.ts';
import { HttpError } from '../http/http-error.ts';
import { readBody } from '../http/read-body.ts';
import { watchStall } from '../http/stall.ts';
import { fetchUpstream, forwardedHeaders, unreachable } from './upstream-client.ts';
import type { UpstreamOptions } from './upstream-options.ts';

/** A prompt of the longest contexts there are is a few MB. */
export const MAX_BODY_BYTES = 8 * 2 ** 20;

/** An event that is larger goes on in pieces. */
const MAX_EVENT_BYTES = 2 ** 20;

/** Names of models have slashes in them; nothing here needs an escape. */
const PATH = /^\/v1(?:\/[\w.:@-]+)+$/;

/** What the upstream may say to a caller. Of lengths and encodings the bridge has its own. */
const RESPONSE_HEADERS = ['content-type', 'cache-control', 'retry-after', 'x-request-id'];

/** `/v1/…` as the upstream answers it, streamed through; a caller that leaves takes its request there along. */
export async function forward(upstream: UpstreamOptions, exchange: Exchange): Promise<void> {
  const { request, requestId, signal } = exchange;
  const { pathname, search } = exchange.url;
  const { method = 'GET' } = request;
  if (!PATH.test(pathname)) throw HttpError.notFound(pathname);
  const body = method === 'POST' ? await readBody(request, MAX_BODY_BYTES) : undefined;
  const answer = await fetchUpstream(upstream, {
    method,
    path: pathname + search,
    headers: {
      ...forwardedHeaders(request.headers, upstream.apiKey !== undefined),
      'x-request-id': requestId,
    },
    body,
    signal,
  });
  await passOn(answer, exchange);
}

async function passOn(answer: Response, exchange: Exchange): Promise<void> {
  const { response, signal } = exchange;
  for (const name of RESPONSE_HEADERS) {
    const value = answer.headers.get(name);
    if (value !== null) response.setHeader(name, value);
  }
  // A redirect leads away from the upstream: nobody is to follow it.
  response.writeHead(answer.status >= 300 && answer.status < 400 ? 502 : answer.status);
  // The first token may be long in coming.
  response.flushHeaders();
  const isEventStream = answer.headers.get('content-type')?.startsWith('text/event-stream') ?? false;
  const body = answer.body ?? [];
  if (isEventStream) exchange.tellLate = (error) => void response.end(`data: ${JSON.stringify(error)}\n\n`);
  try {
    for await (const piece of isEventStream ? wholeEvents(body) : body) {
      signal.throwIfAborted();
      if (response.write(piece)) continue;
      watchStall(response);
      await once(response, 'drain', { signal });
    }
  } catch (error) {
    throw signal.aborted ? error : unreachable(error);
  }
  response.end();
  watchStall(response);
}

/** Pieces that end where an event ends, so that an event of the bridge's own may follow any of them. */
async function* wholeEvents(
  pieces: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): AsyncGenerator<Buffer> {
  let held = Buffer.alloc(0);
  for await (const piece of pieces) {
    held = Buffer.concat([held, piece]);
    const end = Math.max(endOfLast(held, '\n\n'), endOfLast(held, '\r\n\r\n'));
    const numReady = held.length > MAX_EVENT_BYTES ? held.length : end;
    if (numReady === 0) continue;
    yield held.subarray(0, numReady);
    held = held.subarray(numReady);
  }
  if (held.length > 0) yield held;
}

function endOfLast(bytes: Buffer, separator: string): number {
  const start = bytes.lastIndexOf(separator);
  return start < 0 ? 0 : start + separator.length;
}
