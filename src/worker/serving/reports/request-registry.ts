import { systemClock } from '../../../batching/base/clock.ts';
import type { ClientId, RequestId } from '../../../protocol/ids.ts';
import type { Caller, SubmittedRequest } from '../../../protocol/requests.ts';

/** Number of ended requests to remember, so that a repeated message does not start one again. */
const MAX_REMEMBERED = 4096;

interface LiveRequest {
  readonly clientId: ClientId;
  readonly caller: Caller | undefined;
  /** On the worker's clock. It may be before the worker began. */
  readonly submittedAtMs: number;
  hasToken: boolean;
}

/** Knows the waiting, running and ended requests and their clients. A request runs once, however often it is sent. */
export class RequestRegistry {
  readonly #live = new Map<RequestId, LiveRequest>();
  /** The owners of ended requests, in order of their end. */
  readonly #ended = new Map<RequestId, ClientId>();
  /** Clients that know this worker. Messages of others are meant for an earlier worker, and come again after the welcome. */
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

  /** Returns false if this request already waits, runs or has ended here. */
  add(
    { requestId, elapsedMs }: Pick<SubmittedRequest, 'requestId' | 'elapsedMs'>,
    clientId: ClientId,
    caller?: Caller,
  ): boolean {
    if (this.#live.has(requestId) || this.#ended.has(requestId)) return false;
    const submittedAtMs = systemClock.now() - elapsedMs;
    this.#live.set(requestId, { clientId, caller, submittedAtMs, hasToken: false });
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

  /** Filters waiting and running requests without a token from this worker. */
  stalledOf(requestIds: readonly RequestId[]): readonly RequestId[] {
    return requestIds.filter((requestId) => this.#live.get(requestId)?.hasToken === false);
  }

  /** Returns the request; undefined for one that neither waits nor runs. */
  end(requestId: RequestId): LiveRequest | undefined {
    const request = this.#live.get(requestId);
    if (!request) return undefined;
    this.#live.delete(requestId);
    // A client that is gone cannot repeat its messages. If it comes back, it may send the request again.
    if (this.hasWelcomed(request.clientId)) this.#ended.set(requestId, request.clientId);
    const [oldest] = this.#ended.keys();
    if (this.#ended.size > MAX_REMEMBERED && oldest) this.#ended.delete(oldest);
    return request;
  }
}
