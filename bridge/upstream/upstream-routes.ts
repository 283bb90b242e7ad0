import { readBody } from '../http/read-body.ts';
import type { Exchange } from '../http/exchange.ts';
import { HttpError } from '../../src/protocol/openai/http-error.ts';
import { getRoute, workRoute, type Handle, type Route } from '../http/router.ts';
import { forward, MAX_BODY_BYTES } from './forward.ts';
import { UpstreamConnection, CONNECTION_PATHS } from './upstream-connection.ts';
import type { UpstreamOptions } from './upstream-client.ts';
import { connectionFull, noConnection, tooManyConnections } from '../http/http-errors.ts';

const ID = '[\\w-]{1,64}';
/** A connection's id, then optionally the id of a request on it. */
const CONNECTION = new RegExp(`^(${ID})(?:/(${ID}))?$`);
/** Each browser has one worker, and each worker one connection. */
const MAX_CONNECTIONS = 64;

/**
 * The paths that generate and store nothing. The bridge adds the upstream's key to each request, so paths for operators (vLLM's
 * adapters) and paths that store data of users (files, batches) are closed: the bridge has its own. An upstream stores responses
 * too: the bridge itself answers `/v1/responses`, through the page, which asks for a chat completion.
 */
const WORK_PATHS = ['/v1/completions', '/v1/chat/completions', '/v1/embeddings', '/tokenize', '/detokenize'];

/**
 * The routes that an upstream answers through the bridge: `/v1/…`, `/tokenize` and `/detokenize` for clients of OpenAI's API and
 * vLLM's, with or without an open tab, and `/upstream/connections/…` for the page's worker.
 */
export function upstreamRoutes(upstream: UpstreamOptions): readonly Route[] {
  const ask: Handle = (exchange) => forward(upstream, exchange);
  return [
    ...WORK_PATHS.map((path) => workRoute(path, ask)),
    getRoute('/v1/models', ask),
    getRoute('/v1/models/*', ask),
    connectionRoute(upstream),
  ];
}

function connectionRoute(upstream: UpstreamOptions): Route {
  const connections = new Map<string, UpstreamConnection>();
  return {
    path: '/upstream/connections/*',
    isPageOnly: true,
    isStream: true,
    methods: {
      GET: (exchange) => streamConnection(upstream, connections, exchange),
      POST: (exchange) => beginRequest(connections, exchange),
      DELETE(exchange) {
        const [connectionId, requestId] = idsIn(exchange);
        connections.get(connectionId)?.cancel(requestId);
        exchange.response.writeHead(204).end();
      },
    },
  };
}

/** Streams to the worker until its connection closes. @throws HttpError 503. */
async function streamConnection(
  upstream: UpstreamOptions,
  connections: Map<string, UpstreamConnection>,
  exchange: Exchange,
): Promise<void> {
  const [connectionId] = idsIn(exchange);
  if (connections.size >= MAX_CONNECTIONS || connections.has(connectionId)) throw tooManyConnections();
  const connection = new UpstreamConnection(upstream, exchange.response);
  connections.set(connectionId, connection);
  await connection.closed;
  connections.delete(connectionId);
}

/** @throws HttpError 400, 404, 413 or 429. */
async function beginRequest(
  connections: ReadonlyMap<string, UpstreamConnection>,
  exchange: Exchange,
): Promise<void> {
  const [connectionId, requestId] = idsIn(exchange);
  const body = await readBody(exchange.request, MAX_BODY_BYTES);
  const connection = connections.get(connectionId);
  if (!connection) throw noConnection();
  if (connection.isFull) throw connectionFull();
  connection.begin(requestId, pathIn(exchange), body);
  exchange.response.writeHead(202).end();
}

/**
 * The id of a connection, and of a request on it unless the method is GET.
 *
 * @throws HttpError 404; 405 for a method that goes with the other kind of path.
 */
function idsIn({ request, rest, url }: Exchange): readonly [connectionId: string, requestId: string] {
  const [, connectionId, requestId] = CONNECTION.exec(rest) ?? [];
  if (connectionId === undefined) throw HttpError.notFound(url.pathname);
  if ((requestId === undefined) !== (request.method === 'GET'))
    throw HttpError.methodNotAllowed(requestId === undefined ? ['GET'] : ['POST', 'DELETE']);
  return [connectionId, requestId ?? ''];
}

/** The upstream's path that a request on a connection is for. @throws HttpError 400. */
function pathIn({ url }: Exchange): (typeof CONNECTION_PATHS)[number] {
  const wanted = url.searchParams.get('path');
  const path = CONNECTION_PATHS.find((known) => known === wanted);
  if (path !== undefined) return path;
  throw HttpError.expected('path', `one of ${CONNECTION_PATHS.join(', ')}`);
}
