import { CallQueue, type TakenCalls } from './call-queue.ts';

/**
 * Waiting calls in the order in which a subclass calls them, sorted within windows by `sizeOf`.
 *
 * Invariant: a window leaves before any call that comes after it in the subclass's order. So fewer than `window` calls
 * overtake a call.
 */
export abstract class CalledQueue<Item, To> extends CallQueue<Item, To> {
  /** Calls that are called together, as far as so many wait; 1 sorts nothing. Applies from the next window. */
  window: number;
  /** The next calls to leave, in order. A batch that measures its items reads them before it takes them. */
  readonly #called: number[] = [];

  constructor(window: number) {
    super();
    this.window = window;
  }

  protected get numCalled(): number {
    return this.#called.length;
  }

  /** Takes the next call out of those that are not called yet. */
  protected abstract call(): number | undefined;

  /** Takes this call out of those that are not called yet. */
  protected abstract uncall(order: number): void;

  override after(order: number | undefined): number | undefined {
    const index = order === undefined ? 0 : this.#called.lastIndexOf(order) + 1;
    if (index === this.#called.length) this.#callWindow();
    return this.#called[index];
  }

  override remove(order: number): (error: unknown) => void {
    const index = this.#called.indexOf(order);
    if (index < 0) this.uncall(order);
    else this.#called.splice(index, 1);
    return super.remove(order);
  }

  override take(count: number): TakenCalls<Item, To> {
    while (this.#called.length < count) this.#callWindow();
    const calls = this.#called.splice(0, count).map((order) => this.takeOne(order));
    return {
      items: calls.map(({ item }) => item),
      tos: calls.map(({ to }) => to),
      rejects: calls.map(({ reject }) => reject),
      handles: calls.map(({ handle }) => handle),
      oldestArrivalMs: Math.min(...calls.map(({ arrivedAtMs }) => arrivedAtMs)),
    };
  }

  #callWindow(): void {
    const window: number[] = [];
    while (window.length < this.window) {
      const order = this.call();
      if (order === undefined) break;
      window.push(order);
    }
    this.#called.push(...window.toSorted((a, b) => this.sizeOf(a) - this.sizeOf(b)));
  }
}

/** First come, first served, but for the sorting within windows. */
export class SortedQueue<Item, To> extends CalledQueue<Item, To> {
  /** In order of arrival. */
  readonly #uncalled = new Set<number>();

  override push(...call: Parameters<CallQueue<Item, To>['push']>): number {
    const order = super.push(...call);
    this.#uncalled.add(order);
    return order;
  }

  protected override call(): number | undefined {
    const [order] = this.#uncalled;
    if (order !== undefined) this.#uncalled.delete(order);
    return order;
  }

  protected override uncall(order: number): void {
    this.#uncalled.delete(order);
  }
}
