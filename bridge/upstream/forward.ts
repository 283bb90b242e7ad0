import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

import { sendError } from './json-error.ts';
import { MAX_BODY_BYTES, readBody } from './read-body.ts';
import { fetchUpstream, forwardedHeaders } from './upstream-client.ts';
import type { UpstreamOptions } from './upstream-options.ts';

/** Names of models have slashes in them; nothing here needs an escape. */
const PATH = /^\/v1(?:\/[\w.:@-]+)+$/;

/** What the upstream may say to a caller. Of lengths and encodings the bridge has its own. */
const RESPONSE_HEADERS = ['content-type', 'cache-control', 'retry-after', 'x-request-id'];

/** `/v1/…` as the upstream answers it, streamed through; a caller that leaves takes its request there along. */
export async function forward(
  upstream: UpstreamOptions,
  request: IncomingMessage,
  response: ServerResponse,
  { pathname, search }: URL,
): Promise<void> {
  if (!PATH.test(pathname)) {
    sendError(response, { status: 404, message: `Nothing at ${pathname}.`, code: 'not_found' });
    return;
  }
  if (request.method !== 'GET' && request.method !== 'POST') {
    response.setHeader('Allow', 'GET, POST');
    sendError(response, { status: 405, message: 'Use GET or POST.', code: 'method_not_allowed' });
    return;
  }
  const body = request.method === 'POST' ? await readBody(request) : null;
  if (body === undefined) {
    sendTooLarge(response);
    return;
  }
  const abort = new AbortController();
  response.once('close', () => abort.abort());
  const headers = forwardedHeaders(request.headers, upstream.apiKey !== undefined);
  try {
    const answer = await fetchUpstream(upstream, {
      method: request.method,
      path: pathname + search,
      headers,
      body: body ?? undefined,
      signal: abort.signal,
    });
    await passOn(answer, response);
  } catch {
    // The caller has left, or the upstream has broken off: what was sent cannot be taken back.
    response.destroy();
  }
}

export function sendTooLarge(response: ServerResponse): void {
  const message = `The body is larger than ${MAX_BODY_BYTES / 2 ** 20} MiB: send a shorter prompt.`;
  // The rest of it is not read: the connection cannot be used again.
  response.setHeader('Connection', 'close');
  sendError(response, { status: 413, message, code: 'body_too_large' });
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
