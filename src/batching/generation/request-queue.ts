import { LinkedList, type ListNode } from './linked-list.ts';
import type { ClientId, RequestId } from './request.ts';

/** What can wait its turn. */
export interface Queued {
  readonly id: RequestId;
  readonly clientId: ClientId;
}

/** What one client waits for, at its place in the round of clients. */
type Turn<Request> = ListNode<LinkedList<Request>>;

interface Entry<Request> {
  readonly turn: Turn<Request>;
  readonly inClient: ListNode<Request>;
  readonly inArrivals: ListNode<Request>;
}

/** How full the queue is to one client. */
export interface QueueLimit {
  readonly numQueuedRequests: number;
  readonly maxQueuedRequests: number;
}

/**
 * Waiting requests: round-robin over clients, first come first served within a client.
 * `add`, `take` and `remove` are O(1) however many wait.
 */
export class RequestQueue<Request extends Queued> {
  readonly #entries = new Map<RequestId, Entry<Request>>();
  /** Holds a client exactly while it waits for something. */
  readonly #turns = new Map<ClientId, Turn<Request>>();
  readonly #round = new LinkedList<LinkedList<Request>>();
  readonly #arrivals = new LinkedList<Request>();

  get length(): number {
    return this.#arrivals.length;
  }

  /** The longest waiting, whatever its turn: batch waits are counted from its arrival. */
  get oldest(): Request | undefined {
    return this.#arrivals.first?.value;
  }

  /** In order of arrival. */
  get ids(): readonly RequestId[] {
    return [...this.#entries.keys()];
  }

  has(id: RequestId): boolean {
    return this.#entries.has(id);
  }

  /**
   * The limit that keeps a further request of this client out; undefined where there is room. When several clients
   * wait, each has an equal share of `maxQueuedRequests`, and the first request of a client always has a place: one
   * that floods the queue keeps nobody else out of it.
   */
  limitFor(clientId: ClientId, maxQueuedRequests: number): QueueLimit | undefined {
    const numOwn = this.#turns.get(clientId)?.value.length ?? 0;
    if (numOwn === 0 && this.#turns.size > 0) return undefined;
    if (this.length >= maxQueuedRequests) return { numQueuedRequests: this.length, maxQueuedRequests };
    const share = Math.ceil(maxQueuedRequests / Math.max(1, this.#turns.size));
    return numOwn >= share ? { numQueuedRequests: numOwn, maxQueuedRequests: share } : undefined;
  }

  /** The request arrived no earlier than those that wait already. */
  add(request: Request): void {
    const turn = this.#turns.get(request.clientId) ?? this.#joinRound(request.clientId);
    const inClient = turn.value.append(request);
    this.#entries.set(request.id, { turn, inClient, inArrivals: this.#arrivals.append(request) });
  }

  /** The next in turn; its client goes to the end of the round. */
  take(): Request | undefined {
    const turn = this.#round.first;
    const request = turn?.value.first?.value;
    if (!turn || !request) return undefined;
    this.#round.moveToEnd(turn);
    return this.remove(request.id);
  }

  remove(id: RequestId): Request | undefined {
    const entry = this.#entries.get(id);
    if (!entry) return undefined;
    const { turn, inClient, inArrivals } = entry;
    this.#entries.delete(id);
    this.#arrivals.remove(inArrivals);
    turn.value.remove(inClient);
    if (turn.value.length === 0) this.#leaveRound(turn, inClient.value.clientId);
    return inClient.value;
  }

  #joinRound(clientId: ClientId): Turn<Request> {
    const turn = this.#round.append(new LinkedList<Request>());
    this.#turns.set(clientId, turn);
    return turn;
  }

  #leaveRound(turn: Turn<Request>, clientId: ClientId): void {
    this.#round.remove(turn);
    this.#turns.delete(clientId);
  }
}
