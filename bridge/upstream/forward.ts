import { once } from 'node:events';

import { watchStall, type Exchange } from '../http/exchange.ts';
import { HttpError } from '../../src/protocol/openai/http-error.ts';
import { collect, readBody, type Pieces } from '../http/read-body.ts';
import { badAnswer } from '../http/http-errors.ts';
import { checkAnswer, shapeOf } from './answer-shape.ts';
import {
  fetchUpstream,
  forwardedHeaders,
  isEventStream,
  unreachable,
  type UpstreamOptions,
} from './upstream-client.ts';

/** The longest prompts are a few MB. */
export const MAX_BODY_BYTES = 8 * 2 ** 20;

/** A checked answer is held in memory. Log probabilities of a long context take tens of MB. */
const MAX_CHECKED_BYTES = 64 * 2 ** 20;
/** A larger event is passed on in pieces. */
const MAX_EVENT_BYTES = 2 ** 20;

/** Model names contain slashes, but no characters that need escapes. */
const PATH = /^(?:\/v1(?:\/[\w.:@-]+)+|\/(?:de)?tokenize)$/;

/** Headers that are passed on to the caller. The bridge sets length and encoding itself. */
const RESPONSE_HEADERS = ['content-type', 'cache-control', 'retry-after', 'x-request-id'];

/**
 * Passes a request to the upstream, and its answer to the caller. A stream passes through; other answers are checked first.
 * When the caller leaves, the request to the upstream is aborted.
 *
 * @throws HttpError 502 for an upstream that cannot be reached, or is not OpenAI-compatible.
 */
export async function forward(upstream: UpstreamOptions, exchange: Exchange): Promise<void> {
  const { request, requestId, signal } = exchange;
  const { pathname, search } = exchange.url;
  // A server may lack HEAD where it has GET.
  const method = request.method === 'POST' ? 'POST' : 'GET';
  if (!PATH.test(pathname)) throw HttpError.notFound(pathname);
  const answer = await fetchUpstream(upstream, pathname + search, {
    method,
    headers: { ...forwardedHeaders(request.headers, upstream), 'x-request-id': requestId },
    body: method === 'POST' ? await readBody(request, MAX_BODY_BYTES) : null,
    signal,
  });
  const { ok, status, headers } = answer;
  const isLacking = status === 404 || status === 405;
  const hasShape = ok && shapeOf(pathname) !== undefined && !isEventStream(headers);
  await (isLacking || hasShape ? passOnChecked : passOn)(answer, exchange, upstream.url);
}

async function passOnChecked(answer: Response, exchange: Exchange, url: string): Promise<void> {
  const { response, signal } = exchange;
  const refuse = (): HttpError => badAnswer(url, `with more than ${MAX_CHECKED_BYTES} bytes`);
  const body = await collect(answer.body ?? [], MAX_CHECKED_BYTES, refuse).catch((error: unknown) => {
    throw signal.aborted || error instanceof HttpError ? error : unreachable(url, error);
  });
  checkAnswer(url, exchange.url.pathname, answer.status, body.toString());
  copyHeaders(answer, exchange);
  response.writeHead(answer.status, { 'Content-Length': body.length });
  response.end(body);
  watchStall(response);
}

async function passOn(answer: Response, exchange: Exchange, url: string): Promise<void> {
  const { response, signal } = exchange;
  copyHeaders(answer, exchange);
  // Callers must not follow a redirect away from the upstream.
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
    throw signal.aborted ? error : unreachable(url, error);
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
