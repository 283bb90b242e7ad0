import { QueueShares, type QueueLimit } from './queue-shares.ts';
import type { ClientId, RequestId } from './request.ts';
import { Round } from './round.ts';
import { TurnTree, type TurnPlace } from './turn-tree.ts';

/** Whose turn a request waits for. */
export interface TurnOwner {
  readonly clientId: ClientId;
  /** Within its client, outermost first: the callers that take turns, then the turn itself. A turn of its own where left out. */
  readonly turn?: readonly string[];
}

/** What can wait its turn. */
export interface Queued extends TurnOwner {
  readonly id: RequestId;
  /** Lower goes first; 0 where it is left out. An integer. */
  readonly priority?: number;
}

/**
 * Waiting requests in classes of priority: a class waits until those before it are empty. Within a class clients take turns,
 * then the callers and the turns of a client, and the requests of one turn are first come, first served. `add`, `take` and
 * `remove` are O(1) however many wait, for a given number of classes and levels.
 */
export class RequestQueue<Request extends Queued> {
  readonly #places = new Map<RequestId, TurnPlace<Request>>();
  /** By priority. Holds a class exactly while something waits in it. */
  readonly #classes = new Map<number, TurnTree<Request>>();
  /** Of the classes, ascending. */
  readonly #priorities: number[] = [];
  /** Whatever the class of a request. */
  readonly #shares = new QueueShares();
  readonly #arrivals = new Round<Request>();

  get length(): number {
    return this.#arrivals.size;
  }

  /** The longest waiting, whatever its turn: batch waits are counted from its arrival. */
  get oldest(): Request | undefined {
    return this.#arrivals.first;
  }

  /** In order of arrival. */
  get all(): readonly Request[] {
    return [...this.#places.values()].map(({ leaf }) => leaf.request);
  }

  has(id: RequestId): boolean {
    return this.#places.has(id);
  }

  /**
   * The limit that keeps some requests of one turn out; undefined where there is room for all of them. When several clients wait,
   * each has an equal share of `maxQueuedRequests`, and so have the callers of one client within its share. A client that
   * floods the queue keeps nobody else out of it.
   */
  limitFor(owner: TurnOwner, maxQueuedRequests: number, numRequests = 1): QueueLimit | undefined {
    return this.#shares.limitFor(sharersOf(owner), maxQueuedRequests, numRequests);
  }

  /** The request arrived no earlier than those that wait already. */
  add(request: Request): void {
    const { id, clientId, turn = [], priority = 0 } = request;
    const inClass = this.#classes.get(priority) ?? this.#openClass(priority);
    this.#shares.add(sharersOf(request));
    this.#places.set(id, inClass.add([clientId, ...turn], request));
    this.#arrivals.add(request);
  }

  /** The next in turn of the first class. */
  get next(): Request | undefined {
    return this.#firstClass?.first;
  }

  /** Removes `next`; its client, caller and turn each go to the end of their round. */
  take(): Request | undefined {
    const { next } = this;
    if (!next) return undefined;
    this.#firstClass?.passTurn();
    return this.remove(next.id);
  }

  remove(id: RequestId): Request | undefined {
    const place = this.#places.get(id);
    if (!place) return undefined;
    const { request } = place.leaf;
    const { priority = 0 } = request;
    this.#places.delete(id);
    this.#arrivals.remove(request);
    this.#shares.remove(sharersOf(request));
    const inClass = this.#classes.get(priority);
    inClass?.remove(place);
    if (inClass?.isEmpty) this.#closeClass(priority);
    return request;
  }

  get #firstClass(): TurnTree<Request> | undefined {
    const [priority = 0] = this.#priorities;
    return this.#classes.get(priority);
  }

  #openClass(priority: number): TurnTree<Request> {
    const opened = new TurnTree<Request>();
    this.#classes.set(priority, opened);
    const index = this.#priorities.findIndex((other) => other > priority);
    this.#priorities.splice(index === -1 ? this.#priorities.length : index, 0, priority);
    return opened;
  }

  #closeClass(priority: number): void {
    this.#classes.delete(priority);
    this.#priorities.splice(this.#priorities.indexOf(priority), 1);
  }
}

/** Who shares the queue: the client and its callers. Turns of one caller have no shares of their own. */
function sharersOf({ clientId, turn = [] }: TurnOwner): readonly string[] {
  return [clientId, ...turn.slice(0, -1)];
}
