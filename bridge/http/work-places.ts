import type { Caller } from '../../src/protocol/requests.ts';
import { HttpError } from './http-error.ts';

/** Requests for work that may be under way. The worker limits its queue; this limits the bridge's memory. */
const NUM_PLACES = 512;

/** How often the places that are free a peer may hold, and one key of a peer. */
const SHARES = [7, 3] as const;

/**
 * The places of requests for work. Whoever holds more than a multiple of what is free gets no further one: alone, a client has at
 * most three quarters of all, and less as others come, so that a newcomer finds a place. The first request of an address always
 * has one, for addresses can't be invented. Switches share their buffers so: Choudhury
 * and Hahne, "Dynamic queue length thresholds for shared-memory packet switches", 1998.
 */
export class WorkPlaces {
  readonly #numHeld = new Map<string, number>();
  #numFree = NUM_PLACES;

  /**
   * Holds a place while `work` runs.
   *
   * @throws HttpError 429 where the caller has its share.
   */
  async hold(caller: Caller, work: () => Promise<void>): Promise<void> {
    const holders = SHARES.map((_, level) => JSON.stringify(caller.slice(0, level + 1)));
    if (
      !this.#isNew(caller) &&
      !holders.every((holder, level) => this.#mayTakeMore(this.#held(holder), SHARES[level] ?? 0))
    )
      throw this.#refusal(holders.at(-1) ?? '');
    this.#add(holders, 1);
    try {
      await work();
    } finally {
      this.#add(holders, -1);
    }
  }

  #isNew([peer]: Caller): boolean {
    return this.#held(JSON.stringify([peer])) === 0;
  }

  /** The last place is for one that holds none. */
  #mayTakeMore(numHeld: number, share: number): boolean {
    return numHeld === 0 ? this.#numFree > 0 : numHeld < share * (this.#numFree - 1);
  }

  #held(holder: string): number {
    return this.#numHeld.get(holder) ?? 0;
  }

  #add(holders: readonly string[], change: 1 | -1): void {
    this.#numFree -= change;
    for (const holder of holders) {
      const numHeld = this.#held(holder) + change;
      if (numHeld === 0) this.#numHeld.delete(holder);
      else this.#numHeld.set(holder, numHeld);
    }
  }

  #refusal(client: string): HttpError {
    const message = `${NUM_PLACES - this.#numFree} requests are running already, ${this.#held(client)} of them of this client: ask again when some have ended.`;
    return new HttpError(429, message, { code: 'TOO_MANY_REQUESTS', headers: { 'Retry-After': '1' } });
  }
}
