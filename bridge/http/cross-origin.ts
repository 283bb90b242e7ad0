import type { IncomingMessage } from 'node:http';

import type { Exchange } from './exchange.ts';

const PREFLIGHT_SECONDS = '600';

/** Lets a page of this origin read the answer. */
export function allowOrigin({ response }: Exchange, origin: string): void {
  response.setHeader('Access-Control-Allow-Origin', origin);
  response.setHeader('Access-Control-Expose-Headers', 'X-Request-Id, Retry-After');
  response.setHeader('Cross-Origin-Resource-Policy', 'cross-origin');
  response.setHeader('Vary', 'Origin');
}

/** Browsers send a preflight before requests that a form could not make. */
export function isPreflight({ method, headers }: IncomingMessage): boolean {
  return method === 'OPTIONS' && headers['access-control-request-method'] !== undefined;
}

/** Allows every header that the client asks for: unknown ones are ignored. */
export function answerPreflight({ request, response }: Exchange): void {
  response.setHeader('Access-Control-Allow-Methods', 'GET, POST');
  response.setHeader('Access-Control-Allow-Headers', request.headers['access-control-request-headers'] ?? '');
  response.setHeader('Access-Control-Max-Age', PREFLIGHT_SECONDS);
  if (request.headers['access-control-request-private-network'])
    response.setHeader('Access-Control-Allow-Private-Network', 'true');
  response.writeHead(204).end();
}
