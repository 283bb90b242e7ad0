import { RequestQueue, type Queued, type TurnOwner } from '../queue/request-queue.ts';
import type { QueueLimit } from '../queue/queue-shares.ts';
import { CallQueue, type TakenCalls } from './call-queue.ts';

interface Turn extends Queued {
  readonly order: number;
}

/** Waiting calls that leave in turns of their callers, in the order of a `RequestQueue`. */
export class TurnQueue<Item extends Queued, To> extends CallQueue<Item, To> {
  readonly #turns = new RequestQueue<Turn>();
  /** The next calls to leave, in order. A batch that measures its items reads them before it takes them. */
  readonly #called: number[] = [];

  /** See `RequestQueue.limitFor`. */
  limitFor(owner: TurnOwner, maxQueuedRequests: number, numRequests: number): QueueLimit | undefined {
    return this.#turns.limitFor(owner, maxQueuedRequests - this.#called.length, numRequests);
  }

  override push(...call: Parameters<CallQueue<Item, To>['push']>): number {
    const order = super.push(...call);
    const [{ id, clientId, turn = [], priority = 0 }] = call;
    this.#turns.add({ id, clientId, turn, priority, order });
    return order;
  }

  override after(order: number | undefined): number | undefined {
    const index = order === undefined ? 0 : this.#called.lastIndexOf(order) + 1;
    return this.#called[index] ?? this.#call();
  }

  override remove(order: number): (error: unknown) => void {
    const { id } = this.itemOf(order);
    if (!this.#turns.remove(id)) this.#called.splice(this.#called.indexOf(order), 1);
    return super.remove(order);
  }

  override take(count: number): TakenCalls<Item, To> {
    while (this.#called.length < count) this.#call();
    const calls = this.#called.splice(0, count).map((order) => this.takeOne(order));
    return {
      items: calls.map(({ item }) => item),
      tos: calls.map(({ to }) => to),
      rejects: calls.map(({ reject }) => reject),
      handles: calls.map(({ handle }) => handle),
      oldestArrivalMs: Math.min(...calls.map(({ arrivedAtMs }) => arrivedAtMs)),
    };
  }

  #call(): number | undefined {
    const turn = this.#turns.take();
    if (turn) this.#called.push(turn.order);
    return turn?.order;
  }
}
