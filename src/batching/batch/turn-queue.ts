import { RequestQueue, type Queued, type TurnOwner } from '../queue/request-queue.ts';
import type { QueueLimit } from '../queue/queue-shares.ts';
import type { CallQueue } from './call-queue.ts';
import { CalledQueue } from './called-queue.ts';

/** Waiting calls that leave in turns of their callers, in the order of a `RequestQueue`, but for the sorting within windows. */
export class TurnQueue<Item extends Queued, To> extends CalledQueue<Item, To> {
  readonly #turns = new RequestQueue<Queued & { readonly order: number }>();

  /** See `RequestQueue.limitFor`. */
  limitFor(owner: TurnOwner, maxQueuedRequests: number, numRequests: number): QueueLimit | undefined {
    return this.#turns.limitFor(owner, maxQueuedRequests - this.numCalled, numRequests);
  }

  override push(...call: Parameters<CallQueue<Item, To>['push']>): number {
    const order = super.push(...call);
    const [{ id, clientId, turn = [], priority = 0, isBackground = false }] = call;
    this.#turns.add({ id, clientId, turn, priority, isBackground, order });
    return order;
  }

  protected override call(): number | undefined {
    return this.#turns.take()?.order;
  }

  protected override uncall(order: number): void {
    this.#turns.remove(this.itemOf(order).id);
  }
}
