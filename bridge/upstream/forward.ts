import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

import type { Exchange } from '../http/exchange.ts';
import { HttpError } from '../http/http-error.ts';
import { readBody } from '../http/read-body.ts';
import { fetchUpstream, forwardedHeaders } from './upstream-client.ts';
import type { UpstreamOptions } from './upstream-options.ts';

/** A prompt of the longest contexts there are is a few MB. */
export const MAX_BODY_BYTES = 8 * 2 ** 20;

/** Names of models have slashes in them; nothing here needs an escape. */
const PATH = /^\/v1(?:\/[\w.:@-]+)+$/;

/** What the upstream may say to a caller. Of lengths and encodings the bridge has its own. */
const RESPONSE_HEADERS = ['content-type', 'cache-control', 'retry-after', 'x-request-id'];

/** `/v1/…` as the upstream answers it, streamed through; a caller that leaves takes its request there along. */
export async function forward(
  upstream: UpstreamOptions,
  { request, response, requestId, signal, url: { pathname, search } }: Exchange,
): Promise<void> {
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
  await passOn(answer, response);
}

async function passOn(answer: Response, response: ServerResponse): Promise<void> {
  for (const name of RESPONSE_HEADERS) {
    const value = answer.headers.get(name);
    if (value !== null) response.setHeader(name, value);
  }
  // A redirect leads away from the upstream: nobody is to follow it.
  response.writeHead(answer.status >= 300 && answer.status < 400 ? 502 : answer.status);
  // The first token may be long in coming.
  response.flushHeaders();
  if (answer.body) await pipeline(Readable.fromWeb(answer.body), response);
  else response.end();
}
