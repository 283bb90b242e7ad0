import { createHmac, randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { isIPv6 } from 'node:net';
import type { Caller } from '../../src/protocol/requests.ts';
import { isLoopbackAddress } from './loopback.ts';
import { HttpError } from '../../src/protocol/openai/http-error.ts';
import { tooManyRequests } from './http-errors.ts';

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

/** Limit of concurrent requests for work. The worker limits its queue; this limits the bridge's memory. */
const MAX_REQUESTS = 512;

/** A peer's limit, and that of one key of a peer, as multiples of the number of requests that could still start. */
const SHARES = [7, 3] as const;

/**
 * Limits concurrent requests for work. A client is refused beyond a multiple of what is free: alone, it has at most three
 * quarters of all, and less as others come, so that a newcomer can start. The first request of an address always starts,
 * because addresses can't be invented. Switches share their buffers in this way: Choudhury and Hahne, "Dynamic queue length
 * thresholds for shared-memory packet switches", 1998.
 */
export class WorkLimit {
  /** By peer, and by key of a peer. */
  readonly #numRunning = new Map<string, number>();
  #numFree = MAX_REQUESTS;

  /** @throws HttpError 429 if the caller has its share. */
  async run(caller: Caller, work: () => Promise<void>): Promise<void> {
    const clients = SHARES.map((_, level) => JSON.stringify(caller.slice(0, level + 1)));
    if (
      !this.#isNew(caller) &&
      !clients.every((client, level) => this.#mayStart(this.#numOf(client), SHARES[level] ?? 0))
    )
      throw this.#refusal(clients.at(-1) ?? '');
    this.#count(clients, 1);
    try {
      await work();
    } finally {
      this.#count(clients, -1);
    }
  }

  #isNew([peer]: Caller): boolean {
    return this.#numOf(JSON.stringify([peer])) === 0;
  }

  /** The last place is for a client that has none. */
  #mayStart(numRunning: number, share: number): boolean {
    return numRunning === 0 ? this.#numFree > 0 : numRunning < share * (this.#numFree - 1);
  }

  #numOf(client: string): number {
    return this.#numRunning.get(client) ?? 0;
  }

  #count(clients: readonly string[], change: 1 | -1): void {
    this.#numFree -= change;
    for (const client of clients) {
      const numRunning = this.#numOf(client) + change;
      if (numRunning === 0) this.#numRunning.delete(client);
      else this.#numRunning.set(client, numRunning);
    }
  }

  #refusal(client: string): HttpError {
    return tooManyRequests(MAX_REQUESTS - this.#numFree, this.#numOf(client));
  }
}
