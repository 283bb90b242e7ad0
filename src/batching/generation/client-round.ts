import { LinkedList, type ListNode } from './linked-list.ts';
import type { ClientId } from './request.ts';

/** What one client waits for, at its place in the round of clients. */
type Turn<Request> = ListNode<LinkedList<Request>>;

/** Where a request waits. */
export interface RoundPlace<Request> {
  readonly turn: Turn<Request>;
  readonly inClient: ListNode<Request>;
}

/** Requests that wait round-robin over clients, first come first served within a client. All in O(1). */
export class ClientRound<Request extends { readonly clientId: ClientId }> {
  /** Holds a client exactly while it waits for something here. */
  readonly #turns = new Map<ClientId, Turn<Request>>();
  readonly #round = new LinkedList<LinkedList<Request>>();

  get isEmpty(): boolean {
    return this.#turns.size === 0;
  }

  /** The next in turn. */
  get first(): Request | undefined {
    return this.#round.first?.value.first?.value;
  }

  add(request: Request): RoundPlace<Request> {
    const turn = this.#turns.get(request.clientId) ?? this.#join(request.clientId);
    return { turn, inClient: turn.value.append(request) };
  }

  /** The client whose turn it is goes to the end of the round. */
  passTurn(): void {
    const turn = this.#round.first;
    if (turn) this.#round.moveToEnd(turn);
  }

  remove({ turn, inClient }: RoundPlace<Request>): void {
    turn.value.remove(inClient);
    if (turn.value.length > 0) return;
    this.#round.remove(turn);
    this.#turns.delete(inClient.value.clientId);
  }

  #join(clientId: ClientId): Turn<Request> {
    const turn = this.#round.append(new LinkedList<Request>());
    this.#turns.set(clientId, turn);
    return turn;
  }
}
