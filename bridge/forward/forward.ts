import { once } from 'node:events';

import { watchStall, type Exchange } from '../http/exchange.ts';
import { HttpError } from '../../src/protocol/openai/http-error.ts';
import { readBody, type Pieces } from '../http/read-body.ts';
import { getRoute, workRoute, type Handle, type Route } from '../http/router.ts';
import { reasonOf } from '../../src/client/links/server/server-http.ts';
import { unreachable } from '../../src/protocol/server-errors.ts';
import { fetchTarget, forwardedHeaders, isEventStream, type ForwardTarget } from './fetch-target.ts';

/** The longest prompts are a few MB. */
const MAX_BODY_BYTES = 8 * 2 ** 20;

/** A larger event is passed on in pieces. */
const MAX_EVENT_BYTES = 2 ** 20;

/** Model names contain slashes, but no characters that need escapes. */
const PATH = /^(?:\/v1(?:\/[\w.:@-]+)+|\/(?:de)?tokenize)$/;

/** Headers that are passed on to the caller. The bridge sets length and encoding itself. */
const RESPONSE_HEADERS = ['content-type', 'cache-control', 'retry-after', 'x-request-id'];

/**
 * The paths that generate and store nothing. The bridge adds the target's key to each request, so paths for operators (vLLM's
 * adapters) and paths that store data of users (files, batches) are closed: the bridge has its own. A target stores responses
 * too: the bridge itself answers `/v1/responses`, by a chat completion.
 */
const WORK_PATHS = ['/v1/completions', '/v1/chat/completions', '/v1/embeddings', '/tokenize', '/detokenize'];

/** The routes that a target answers through the bridge: `/v1/…`, `/tokenize` and `/detokenize` for the page and for clients of OpenAI's and vLLM's API. */
export function forwardRoutes(target: ForwardTarget): readonly Route[] {
  const ask: Handle = (exchange) => forward(target, exchange);
  return [
    ...WORK_PATHS.map((path) => workRoute(path, ask)),
    getRoute('/v1/models', ask),
    getRoute('/v1/models/*', ask),
  ];
}

/**
 * Passes a request to the target, and its answer to the caller as it is. When the caller leaves, the request to the target is aborted.
 *
 * @throws ServerError for a target that cannot be reached.
 */
async function forward(target: ForwardTarget, exchange: Exchange): Promise<void> {
  const { request, requestId, signal } = exchange;
  const { pathname, search } = exchange.url;
  // A server may lack HEAD where it has GET.
  const method = request.method === 'POST' ? 'POST' : 'GET';
  if (!PATH.test(pathname)) throw HttpError.notFound(pathname);
  const answer = await fetchTarget(target, pathname + search, {
    method,
    headers: { ...forwardedHeaders(request.headers, target), 'x-request-id': requestId },
    body: method === 'POST' ? await readBody(request, MAX_BODY_BYTES) : null,
    signal,
  });
  await passOn(answer, exchange, target.url);
}

async function passOn(answer: Response, exchange: Exchange, url: string): Promise<void> {
  const { response, signal } = exchange;
  copyHeaders(answer, exchange);
  // Callers must not follow a redirect away from the target.
  response.writeHead(answer.status >= 300 && answer.status < 400 ? 502 : answer.status);
  // The first token may take long.
  response.flushHeaders();
  const hasEvents = isEventStream(answer.headers);
  const body = answer.body ?? [];
  if (hasEvents) exchange.sendLateError = (error) => void response.end(`data: ${JSON.stringify(error)}\n\n`);
  try {
    for await (const piece of hasEvents ? wholeEvents(body) : body) {
      signal.throwIfAborted();
      if (response.write(piece)) continue;
      watchStall(response);
      await once(response, 'drain', { signal });
    }
  } catch (error) {
    throw signal.aborted ? error : unreachable(url, reasonOf(error), error);
  }
  response.end();
  watchStall(response);
}

function copyHeaders({ headers }: Response, { response }: Exchange): void {
  for (const name of RESPONSE_HEADERS) {
    const value = headers.get(name);
    if (value !== null) response.setHeader(name, value);
  }
}

/** Regroups the stream into whole events, so that the bridge can add an event after any of them. */
async function* wholeEvents(pieces: Pieces): AsyncGenerator<Buffer> {
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
