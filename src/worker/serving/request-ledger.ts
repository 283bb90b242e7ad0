import type { ClientId, RequestId } from '../protocol/protocol.ts';

/** Ended requests of which a replayed message is still recognised. */
const MAX_REMEMBERED = 4096;

/** Whose each request is. A request runs once, however often its message arrives. */
export class RequestLedger {
  readonly #owners = new Map<RequestId, ClientId>();
  readonly #requests = new Map<ClientId, Set<RequestId>>();
  /** In order of their end, and whose they were. */
  readonly #ended = new Map<RequestId, ClientId>();

  /** Whether no request waits or runs. */
  get isEmpty(): boolean {
    return this.#owners.size === 0;
  }

  /** False where this request is known already, as one that waits, runs or has ended. */
  add(requestId: RequestId, clientId: ClientId): boolean {
    if (this.#owners.has(requestId) || this.#ended.has(requestId)) return false;
    this.#owners.set(requestId, clientId);
    const own = this.#requests.get(clientId) ?? new Set();
    this.#requests.set(clientId, own.add(requestId));
    return true;
  }

  /** Undefined for a request that is not there (any more). */
  ownerOf(requestId: RequestId): ClientId | undefined {
    return this.#owners.get(requestId);
  }

  requestsOf(clientId: ClientId): readonly RequestId[] {
    return [...(this.#requests.get(clientId) ?? [])];
  }

  /** Of a client that is gone, or that comes back and sends again what it has got no answer to. */
  forgetEnded(clientId: ClientId): void {
    for (const [requestId, owner] of this.#ended) {
      if (owner === clientId) this.#ended.delete(requestId);
    }
  }

  /** @param isReplayable Whether its message may come a second time without being meant. */
  end(requestId: RequestId, isReplayable = true): void {
    const clientId = this.#owners.get(requestId);
    if (clientId === undefined) return;
    this.#owners.delete(requestId);
    const own = this.#requests.get(clientId);
    own?.delete(requestId);
    if (own?.size === 0) this.#requests.delete(clientId);
    if (!isReplayable) return;
    this.#ended.set(requestId, clientId);
    const [oldest] = this.#ended.keys();
    if (this.#ended.size > MAX_REMEMBERED && oldest) this.#ended.delete(oldest);
  }
}
