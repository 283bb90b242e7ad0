import { readBody } from '../http/read-body.ts';
import type { Exchange } from '../http/exchange.ts';
import { HttpError } from '../http/http-error.ts';
import { getRoute, workRoute, type Handle, type Route } from '../http/router.ts';
import { forward, MAX_BODY_BYTES } from './forward.ts';
import { Lane, LANE_PATHS } from './lane.ts';
import type { UpstreamOptions } from './upstream-client.ts';

const ID = '[\\w-]{1,64}';
/** A lane's id, then optionally the id of a request on it. */
const LANE = new RegExp(`^(${ID})(?:/(${ID}))?$`);
/** Each browser has one worker, and each worker one lane. */
const MAX_LANES = 64;

/**
 * The paths that generate and store nothing. The bridge adds the upstream's key to each request, so paths for operators (vLLM's
 * adapters) and paths that store data of users (files, batches, responses) are closed.
 */
const WORK_PATHS = ['/v1/completions', '/v1/chat/completions', '/v1/embeddings', '/tokenize', '/detokenize'];

/**
 * The routes that an upstream answers through the bridge: `/v1/…`, `/tokenize` and `/detokenize` for clients of OpenAI's API and
 * vLLM's, with or without an open tab, and `/upstream/lanes/…` for the page's worker.
 */
export function upstreamRoutes(upstream: UpstreamOptions): readonly Route[] {
  const ask: Handle = (exchange) => forward(upstream, exchange);
  return [
    ...WORK_PATHS.map((path) => workRoute(path, ask)),
    getRoute('/v1/models', ask),
    getRoute('/v1/models/*', ask),
    laneRoute(upstream),
  ];
}

function laneRoute(upstream: UpstreamOptions): Route {
  const lanes = new Map<string, Lane>();
  return {
    path: '/upstream/lanes/*',
    isPageOnly: true,
    isStream: true,
    methods: {
      /** Streams to the worker until its connection closes. */
      async GET(exchange) {
        const [laneId] = idsIn(exchange);
        if (lanes.size >= MAX_LANES || lanes.has(laneId)) {
          const message = 'Too many workers listen to this bridge: close tabs, or reload this one.';
          throw new HttpError(503, message, { code: 'TOO_MANY_LANES' });
        }
        const lane = new Lane(upstream, exchange.response);
        lanes.set(laneId, lane);
        await lane.closed;
        lanes.delete(laneId);
      },
      async POST(exchange) {
        const [laneId, requestId] = idsIn(exchange);
        const body = await readBody(exchange.request, MAX_BODY_BYTES);
        const lane = lanes.get(laneId);
        if (!lane) {
          const message = 'The lane is not open: open it before you send requests on it.';
          throw new HttpError(404, message, { code: 'NO_SUCH_LANE' });
        }
        if (lane.isFull) {
          const message = 'Too many requests are running: submit it again when some have ended.';
          throw new HttpError(429, message, {
            code: 'TOO_MANY_REQUESTS',
            headers: { 'Retry-After': '1' },
          });
        }
        lane.begin(requestId, pathIn(exchange), body);
        exchange.response.writeHead(202).end();
      },
      DELETE(exchange) {
        const [laneId, requestId] = idsIn(exchange);
        lanes.get(laneId)?.cancel(requestId);
        exchange.response.writeHead(204).end();
      },
    },
  };
}

/**
 * The id of a lane, and of a request on it unless the method is GET.
 *
 * @throws HttpError 404; 405 for a method that goes with the other kind of path.
 */
function idsIn({ request, rest, url }: Exchange): readonly [laneId: string, requestId: string] {
  const [, laneId, requestId] = LANE.exec(rest) ?? [];
  if (laneId === undefined) throw HttpError.notFound(url.pathname);
  if ((requestId === undefined) !== (request.method === 'GET'))
    throw HttpError.methodNotAllowed(requestId === undefined ? ['GET'] : ['POST', 'DELETE']);
  return [laneId, requestId ?? ''];
}

/** The upstream's path that a request on a lane is for. @throws HttpError 400. */
function pathIn({ url }: Exchange): (typeof LANE_PATHS)[number] {
  const wanted = url.searchParams.get('path');
  const path = LANE_PATHS.find((known) => known === wanted);
  if (path !== undefined) return path;
  throw HttpError.invalid('path', `Expected \`path\` to be one of ${LANE_PATHS.join(', ')}.`);
}
