import type { Caller } from '../../src/protocol/requests.ts';
import { HttpError } from '../../src/protocol/openai/http-error.ts';
import { tooManyRequests } from './http-errors.ts';

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
