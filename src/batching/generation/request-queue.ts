import { LinkedList, type ListNode } from './linked-list.ts';
import type { ClientId, RequestId } from './request.ts';
import type { Sequence } from './sequence.ts';

/** What one client waits for, at its place in the round of clients. */
type Turn = ListNode<LinkedList<Sequence>>;

interface Entry {
  readonly turn: Turn;
  readonly inClient: ListNode<Sequence>;
  readonly inArrivals: ListNode<Sequence>;
}

/**
 * Waiting sequences: round-robin over clients, first come first served within a client.
 * `add`, `take` and `remove` are O(1) however many wait.
 */
export class RequestQueue {
  readonly #entries = new Map<RequestId, Entry>();
  /** Holds a client exactly while it waits for something. */
  readonly #turns = new Map<ClientId, Turn>();
  readonly #round = new LinkedList<LinkedList<Sequence>>();
  readonly #arrivals = new LinkedList<Sequence>();

  get length(): number {
    return this.#arrivals.length;
  }

  /** The longest waiting, whatever its turn: batch waits are counted from its arrival. */
  get oldest(): Sequence | undefined {
    return this.#arrivals.first?.value;
  }

  /** In order of arrival. */
  get ids(): readonly RequestId[] {
    return [...this.#entries.keys()];
  }

  has(id: RequestId): boolean {
    return this.#entries.has(id);
  }

  /** The sequence arrived no earlier than those that wait already. */
  add(sequence: Sequence): void {
    const turn = this.#turns.get(sequence.clientId) ?? this.#joinRound(sequence.clientId);
    const inClient = turn.value.append(sequence);
    this.#entries.set(sequence.id, { turn, inClient, inArrivals: this.#arrivals.append(sequence) });
  }

  /** The next in turn; its client goes to the end of the round. */
  take(): Sequence | undefined {
    const turn = this.#round.first;
    const sequence = turn?.value.first?.value;
    if (!turn || !sequence) return undefined;
    this.#round.moveToEnd(turn);
    return this.remove(sequence.id);
  }

  remove(id: RequestId): Sequence | undefined {
    const entry = this.#entries.get(id);
    if (!entry) return undefined;
    const { turn, inClient, inArrivals } = entry;
    this.#entries.delete(id);
    this.#arrivals.remove(inArrivals);
    turn.value.remove(inClient);
    if (turn.value.length === 0) this.#leaveRound(turn, inClient.value.clientId);
    return inClient.value;
  }

  #joinRound(clientId: ClientId): Turn {
    const turn = this.#round.append(new LinkedList<Sequence>());
    this.#turns.set(clientId, turn);
    return turn;
  }

  #leaveRound(turn: Turn, clientId: ClientId): void {
    this.#round.remove(turn);
    this.#turns.delete(clientId);
  }
}
