import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';

/**
 * Whether a request comes from the page itself or from no page at all: what another site's page sends has its origin with it,
 * or at least says that it is of another site.
 */
export function isSameOrigin({ headers }: IncomingMessage): boolean {
  const site = headers['sec-fetch-site'];
  if (site !== undefined && site !== 'same-origin' && site !== 'none') return false;
  const { origin, host } = headers;
  return origin === undefined || origin === `http://${host}`;
}

/**
 * Whether the client has this machine in mind: a foreign name that leads here is another site's, made to look like this one. An
 * address cannot be made to lead elsewhere.
 */
export function isHostOf({ headers }: IncomingMessage, host: string): boolean {
  const name = headers.host?.replace(/:\d+$/, '').replace(/^\[|\]$/g, '');
  return name !== undefined && (name === host || name === 'localhost' || isIP(name) !== 0);
}
