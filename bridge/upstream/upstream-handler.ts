import type { IncomingMessage, ServerResponse } from 'node:http';

import { forward, sendTooLarge } from './forward.ts';
import { sendError } from './json-error.ts';
import { Lane } from './lane.ts';
import { readBody } from './read-body.ts';
import type { UpstreamOptions } from './upstream-options.ts';

/** True where the request is for the upstream, and is being answered. */
export type UpstreamHandler = (request: IncomingMessage, response: ServerResponse) => boolean;

const ID = '[\\w-]{1,64}';
const LANE = new RegExp(`^/upstream/lanes/(${ID})(?:/(${ID}))?$`);
/** One for each worker: a browser has one. */
const MAX_LANES = 64;

/**
 * What the bridge answers in the name of an upstream: `/v1/…` for any client of OpenAI's API, with or without an open tab, and
 * `/upstream/lanes/…` for the page's worker. Whoever mounts it has checked Host and Origin: the upstream's key is used for
 * whatever comes through.
 */
export function createUpstreamHandler(upstream: UpstreamOptions): UpstreamHandler {
  const lanes = new Map<string, Lane>();

  const answerLane = async (
    request: IncomingMessage,
    response: ServerResponse,
    laneId: string,
    requestId: string | undefined,
  ): Promise<void> => {
    if (requestId === undefined) openLane(request, response, laneId);
    else if (request.method === 'POST') await begin(request, response, lanes.get(laneId), requestId);
    else if (request.method === 'DELETE') {
      lanes.get(laneId)?.cancel(requestId);
      response.writeHead(204).end();
    } else refuseMethod(response, 'POST, DELETE');
  };

  const openLane = (request: IncomingMessage, response: ServerResponse, laneId: string): void => {
    if (request.method !== 'GET') refuseMethod(response, 'GET');
    else if (lanes.size >= MAX_LANES || lanes.has(laneId)) {
      const message = 'Too many workers listen to this bridge: close tabs, or reload this one.';
      sendError(response, { status: 503, message, code: 'too_many_lanes' });
    } else {
      lanes.set(laneId, new Lane(upstream, response));
      response.once('close', () => lanes.delete(laneId));
    }
  };

  return (request, response) => {
    const url = urlOf(request);
    const [, laneId, requestId] = LANE.exec(url?.pathname ?? '') ?? [];
    if (!url || (laneId === undefined && !url.pathname.startsWith('/v1/'))) return false;
    const answered =
      laneId === undefined
        ? forward(upstream, request, response, url)
        : answerLane(request, response, laneId, requestId);
    // A client that breaks off in the middle of its body.
    answered.catch(() => response.destroy());
    return true;
  };
}

/** Undefined for what is no path. */
function urlOf({ url = '' }: IncomingMessage): URL | undefined {
  // As one text: two slashes at the beginning would stand for a host.
  const absolute = `http://bridge${url}`;
  return url.startsWith('/') && URL.canParse(absolute) ? new URL(absolute) : undefined;
}

async function begin(
  request: IncomingMessage,
  response: ServerResponse,
  lane: Lane | undefined,
  requestId: string,
): Promise<void> {
  const body = await readBody(request);
  if (body === undefined) sendTooLarge(response);
  else if (!lane) {
    const message = 'Nobody listens to the answer: open the lane first.';
    sendError(response, { status: 404, message, code: 'no_such_lane' });
  } else if (lane.isFull) {
    const message = 'Too many requests run: submit it again when some have ended.';
    sendError(response, { status: 429, message, code: 'too_many_requests' });
  } else {
    lane.begin(requestId, body);
    response.writeHead(202).end();
  }
}

function refuseMethod(response: ServerResponse, allowed: string): void {
  response.setHeader('Allow', allowed);
  sendError(response, { status: 405, message: `Use ${allowed}.`, code: 'method_not_allowed' });
}
