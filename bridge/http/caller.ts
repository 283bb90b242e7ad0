import { createHmac, randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { isIPv6 } from 'node:net';

import type { Caller } from '../../src/protocol/requests.ts';
import { isLoopbackAddress } from './loopback.ts';

/** Keys and user names stay in the bridge: the worker gets digests that tell them apart during this run. */
const SALT = randomBytes(32);

/**
 * The caller for the queue: the peer's address, then its bearer token, then the `user` of its body. Keys and users can be
 * invented, but share their peer's turns. `X-Forwarded-For` is ignored because anybody can write it: behind a proxy, keys and
 * users tell clients apart.
 */
export function callerOf({ socket, headers }: IncomingMessage, user = ''): Caller {
  const [, key = ''] = /^Bearer +(\S.*)$/i.exec(headers.authorization ?? '') ?? [];
  return [peerOf(socket.remoteAddress ?? ''), digestOf(key), digestOf(user)];
}

/** One machine owns all loopback addresses, and usually all IPv6 addresses of a /64: each counts as one peer. */
function peerOf(address: string): string {
  if (isLoopbackAddress(address)) return 'loopback';
  const [bare = ''] = address.replace(/^::ffff:(?=\d+\.)/i, '').split('%');
  return isIPv6(bare) ? `${networkOf(bare)}::/64` : bare;
}

/** The first four groups of an IPv6 address. */
function networkOf(address: string): string {
  const [left = [], right = []] = address
    .split('::')
    .map((half) => half.split(':').filter((group) => group !== ''));
  const zeros = Array.from({ length: Math.max(0, 8 - left.length - right.length) }, () => '0');
  return [...left, ...zeros, ...right].slice(0, 4).join(':');
}

function digestOf(text: string): string {
  return text === '' ? '' : createHmac('sha256', SALT).update(text).digest('hex').slice(0, 32);
}
