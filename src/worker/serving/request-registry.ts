import type { ClientId, RequestId } from '../../protocol/ids.ts';

/** Ended requests that are remembered, so that a repeated message does not start one again. */
const MAX_REMEMBERED = 4096;

interface LiveRequest {
  readonly clientId: ClientId;
  hasToken: boolean;
}

/** Which requests wait or run here, whose they are, and which have ended. A request runs once, however often it is sent. */
export class RequestRegistry {
  readonly #live = new Map<RequestId, LiveRequest>();
  /** The owners of ended requests, in order of their end. */
  readonly #ended = new Map<RequestId, ClientId>();
  /** Clients that know this worker. Messages of others were meant for an earlier worker; they are sent again after the welcome. */
  readonly #welcomed = new Set<ClientId>();

  /** Whether no request waits or runs. */
  get isEmpty(): boolean {
    return this.#live.size === 0;
  }

  welcome(clientId: ClientId): void {
    this.#welcomed.add(clientId);
  }

  hasWelcomed(clientId: ClientId): boolean {
    return this.#welcomed.has(clientId);
  }

  /** Forgets a client that is gone. If it comes back, it may send its ended requests again. */
  forget(clientId: ClientId): void {
    this.#welcomed.delete(clientId);
    for (const [requestId, owner] of this.#ended) {
      if (owner === clientId) this.#ended.delete(requestId);
    }
  }

  /** False if this request waits, runs or has ended here already. */
  add(requestId: RequestId, clientId: ClientId): boolean {
    if (this.#live.has(requestId) || this.#ended.has(requestId)) return false;
    this.#live.set(requestId, { clientId, hasToken: false });
    return true;
  }

  /** Undefined for a request that neither waits nor runs. */
  ownerOf(requestId: RequestId): ClientId | undefined {
    return this.#live.get(requestId)?.clientId;
  }

  requestsOf(clientId: ClientId): readonly RequestId[] {
    return [...this.#live].flatMap(([requestId, request]) =>
      request.clientId === clientId ? [requestId] : [],
    );
  }

  /** Returns whether this is the request's first token from this worker. */
  recordToken(requestId: RequestId): boolean {
    const request = this.#live.get(requestId);
    if (!request || request.hasToken) return false;
    request.hasToken = true;
    return true;
  }

  /** Those of the requests that wait or run without a token from this worker. */
  stalledOf(requestIds: readonly RequestId[]): readonly RequestId[] {
    return requestIds.filter((requestId) => this.#live.get(requestId)?.hasToken === false);
  }

  end(requestId: RequestId): void {
    const clientId = this.ownerOf(requestId);
    if (clientId === undefined) return;
    this.#live.delete(requestId);
    // The client is gone: its messages cannot be repeated, and if it comes back it may send the request anew.
    if (!this.hasWelcomed(clientId)) return;
    this.#ended.set(requestId, clientId);
    const [oldest] = this.#ended.keys();
    if (this.#ended.size > MAX_REMEMBERED && oldest) this.#ended.delete(oldest);
  }
}
