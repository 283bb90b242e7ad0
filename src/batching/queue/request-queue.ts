import { QueueShares, type QueueLimit } from './queue-shares.ts';
import type { ClientId, RequestId } from '../base/ids.ts';
import { Round } from './round.ts';
import { TurnTree, type TurnPlace } from './turn-tree.ts';

/** The client of a request, and its place among the requests of this client when they take turns. */
export interface TurnOwner {
  readonly clientId: ClientId;
  /** Path within its client, outermost first: the callers that take turns, then the turn. By default, a turn of its own. */
  readonly turn?: readonly string[];
  /** Waits behind every other request, whatever its priority, and takes no place of theirs in the queue. */
  readonly isBackground?: boolean;
}

/** A request that can wait in the queue. */
export interface Queued extends TurnOwner {
  readonly id: RequestId;
  /** Lower goes first; 0 if left out. An integer. */
  readonly priority?: number;
  /** Goes before the others of its priority: the rest of what has begun, whose memory may be given away meanwhile. */
  readonly isNext?: boolean;
}

/**
 * Waiting requests in classes of priority: a class waits until those before it are empty. Within a class clients take turns,
 * then the callers and the turns of a client, and the requests of one turn are first come, first served. `add`, `take` and
 * `remove` are O(1) however many wait, for a given number of classes and levels.
 */
export class RequestQueue<Request extends Queued> {
  readonly #places = new Map<RequestId, TurnPlace<Request>>();
  /** By `classOf`. Holds a class exactly while something waits in it. */
  readonly #classes = new Map<number, TurnTree<Request>>();
  /** Counts the requests of all classes. */
  readonly #shares = new QueueShares();
  readonly #arrivals = new Round<Request>();

  get length(): number {
    return this.#arrivals.size;
  }

  /** The request that has waited longest: batch waits are counted from its arrival. */
  get oldest(): Request | undefined {
    return this.#arrivals.first;
  }

  /** In order of arrival. */
  get all(): readonly Request[] {
    return Array.from(this.#places.values(), ({ request }) => request);
  }

  has(id: RequestId): boolean {
    return this.#places.has(id);
  }

  /**
   * The limit that keeps some requests of one turn out; undefined if there is room for all of them. Waiting clients have equal
   * shares of `maxQueuedRequests`, and the callers of a client have equal shares of its share. So a client that floods the
   * queue keeps no other out of it.
   */
  limitFor(owner: TurnOwner, maxQueuedRequests: number, numRequests = 1): QueueLimit | undefined {
    return this.#shares.limitFor(sharersOf(owner), maxQueuedRequests, numRequests);
  }

  /** The request must not have arrived before one that waits already. */
  add(request: Request): void {
    const { id, clientId, turn = [] } = request;
    const inClass = this.#classes.get(classOf(request)) ?? new TurnTree<Request>();
    this.#classes.set(classOf(request), inClass);
    if (!request.isBackground) this.#shares.count(sharersOf(request), 1);
    this.#places.set(id, inClass.add([clientId, ...turn], request));
    this.#arrivals.add(request);
  }

  /** The next in turn of the first class. */
  get next(): Request | undefined {
    return this.#firstClass?.first;
  }

  /** Removes `next`. Its client, caller and turn each go to the end of their round. */
  take(): Request | undefined {
    const { next } = this;
    if (!next) return undefined;
    this.#firstClass?.passTurn();
    return this.remove(next.id);
  }

  remove(id: RequestId): Request | undefined {
    const place = this.#places.get(id);
    if (!place) return undefined;
    const { request } = place;
    this.#places.delete(id);
    this.#arrivals.remove(request);
    if (!request.isBackground) this.#shares.count(sharersOf(request), -1);
    const inClass = this.#classes.get(classOf(request));
    inClass?.remove(place);
    if (inClass?.isEmpty) this.#classes.delete(classOf(request));
    return request;
  }

  get #firstClass(): TurnTree<Request> | undefined {
    return this.#classes.get(Math.min(...this.#classes.keys()));
  }
}

/** Lower classes go first. */
function classOf({ priority = 0, isBackground = false, isNext = false }: Queued): number {
  if (isBackground) return isNext ? Number.MAX_VALUE : Infinity;
  return isNext ? priority - 0.5 : priority;
}

/** The client and its callers have shares of the queue. Turns of one caller have none of their own. */
function sharersOf({ clientId, turn = [] }: TurnOwner): readonly string[] {
  return [clientId, ...turn.slice(0, -1)];
}
