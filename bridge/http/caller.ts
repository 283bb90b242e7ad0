import { createHmac, randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { isIPv6 } from 'node:net';

import type { Caller } from '../../src/worker/protocol/protocol.ts';
import { isLoopbackAddress } from './loopback.ts';

/** Keys and names of users stay here: what leaves for the worker only tells them apart, in this run. */
const SALT = randomBytes(32);

/**
 * Who asks, for the queue: the peer of the connection, then its bearer token, then the `user` of its body. Only the peer cannot be
 * made up, so all that a client gains by inventing keys and users it takes from its own peer. `X-Forwarded-For` is not
 * looked at, since anybody can write it: behind a proxy, keys and users tell clients apart.
 */
export function callerOf({ socket, headers }: IncomingMessage, user = ''): Caller {
  const [, key = ''] = /^Bearer +(.+)$/i.exec(headers.authorization ?? '') ?? [];
  return [peerOf(socket.remoteAddress ?? ''), digestOf(key), digestOf(user)];
}

/** A machine owns all of its loopback addresses, and usually all IPv6 addresses of one /64: each stands for one peer. */
function peerOf(address: string): string {
  if (isLoopbackAddress(address)) return 'loopback';
  const [bare = ''] = address.replace(/^::ffff:(?=\d+\.)/i, '').split('%');
  return isIPv6(bare) ? `${networkOf(bare)}::/64` : bare;
}

/** The first four groups of an IPv6 address. */
function networkOf(address: string): string {
  const [left = [], right = []] = address.split('::').map(groupsOf);
  const zeros = Array.from({ length: Math.max(0, 8 - left.length - right.length) }, () => '0');
  return [...left, ...zeros, ...right].slice(0, 4).join(':');
}

function groupsOf(text: string): readonly string[] {
  return text.split(':').filter((group) => group !== '');
}

function digestOf(text: string): string {
  return text === '' ? '' : createHmac('sha256', SALT).update(text).digest('hex').slice(0, 32);
}
