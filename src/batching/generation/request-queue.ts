import { ClientRound, type RoundPlace } from './client-round.ts';
import { LinkedList, type ListNode } from './linked-list.ts';
import type { ClientId, RequestId } from './request.ts';

/** What can wait its turn. */
export interface Queued {
  readonly id: RequestId;
  readonly clientId: ClientId;
  /** Lower goes first; 0 where it is left out. An integer. */
  readonly priority?: number;
}

interface Entry<Request extends Queued> {
  readonly inRound: RoundPlace<Request>;
  readonly inArrivals: ListNode<Request>;
}

/** How full the queue is to one client. */
export interface QueueLimit {
  readonly numQueuedRequests: number;
  readonly maxQueuedRequests: number;
}

/**
 * Waiting requests: classes of priority, strictly one after the other; within a class round-robin over clients, and first
 * come first served within a client. `add`, `take` and `remove` are O(1) however many wait, for a given number of classes.
 */
export class RequestQueue<Request extends Queued> {
  readonly #entries = new Map<RequestId, Entry<Request>>();
  /** By priority. Holds a class exactly while something waits in it. */
  readonly #rounds = new Map<number, ClientRound<Request>>();
  /** Of the rounds, ascending. */
  readonly #priorities: number[] = [];
  /** How many requests each client has here, whatever their class. */
  readonly #numOf = new Map<ClientId, number>();
  readonly #arrivals = new LinkedList<Request>();

  get length(): number {
    return this.#arrivals.length;
  }

  /** The longest waiting, whatever its turn: batch waits are counted from its arrival. */
  get oldest(): Request | undefined {
    return this.#arrivals.first?.value;
  }

  /** In order of arrival. */
  get all(): readonly Request[] {
    return [...this.#entries.values()].map(({ inArrivals }) => inArrivals.value);
  }

  has(id: RequestId): boolean {
    return this.#entries.has(id);
  }

  /**
   * The limit that keeps further requests of this client out; undefined where there is room for all of them. When several clients
   * wait, each has an equal share of `maxQueuedRequests`, and the first request of a client always has a place: one
   * that floods the queue keeps nobody else out of it.
   */
  limitFor(clientId: ClientId, maxQueuedRequests: number, numRequests = 1): QueueLimit | undefined {
    const numOwn = this.#numOf.get(clientId) ?? 0;
    // The last one is judged: the others are in by then.
    const numAhead = numRequests - 1;
    if (numOwn + numAhead === 0 && this.#numOf.size > 0) return undefined;
    if (this.length + numAhead >= maxQueuedRequests) {
      return { numQueuedRequests: this.length, maxQueuedRequests };
    }
    const numClients = this.#numOf.size + (numOwn === 0 ? 1 : 0);
    const share = Math.ceil(maxQueuedRequests / numClients);
    return numOwn + numAhead >= share ? { numQueuedRequests: numOwn, maxQueuedRequests: share } : undefined;
  }

  /** The request arrived no earlier than those that wait already. */
  add(request: Request): void {
    const { id, clientId, priority = 0 } = request;
    const round = this.#rounds.get(priority) ?? this.#openRound(priority);
    this.#numOf.set(clientId, (this.#numOf.get(clientId) ?? 0) + 1);
    this.#entries.set(id, { inRound: round.add(request), inArrivals: this.#arrivals.append(request) });
  }

  /** The next in turn of the first class. */
  get next(): Request | undefined {
    return this.#firstRound?.first;
  }

  /** Removes `next`; its client goes to the end of that round. */
  take(): Request | undefined {
    const { next } = this;
    if (!next) return undefined;
    this.#firstRound?.passTurn();
    return this.remove(next.id);
  }

  remove(id: RequestId): Request | undefined {
    const entry = this.#entries.get(id);
    if (!entry) return undefined;
    const { inRound, inArrivals } = entry;
    const { clientId, priority = 0 } = inArrivals.value;
    this.#entries.delete(id);
    this.#arrivals.remove(inArrivals);
    const numLeft = (this.#numOf.get(clientId) ?? 0) - 1;
    if (numLeft > 0) this.#numOf.set(clientId, numLeft);
    else this.#numOf.delete(clientId);
    const round = this.#rounds.get(priority);
    round?.remove(inRound);
    if (round?.isEmpty) this.#closeRound(priority);
    return inArrivals.value;
  }

  get #firstRound(): ClientRound<Request> | undefined {
    const [priority = 0] = this.#priorities;
    return this.#rounds.get(priority);
  }

  #openRound(priority: number): ClientRound<Request> {
    const round = new ClientRound<Request>();
    this.#rounds.set(priority, round);
    const index = this.#priorities.findIndex((other) => other > priority);
    this.#priorities.splice(index === -1 ? this.#priorities.length : index, 0, priority);
    return round;
  }

  #closeRound(priority: number): void {
    this.#rounds.delete(priority);
    this.#priorities.splice(this.#priorities.indexOf(priority), 1);
  }
}
