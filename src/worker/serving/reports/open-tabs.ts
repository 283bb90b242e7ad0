import type { ClientId } from '../../../protocol/ids.ts';
import type { TabNumbers } from '../../../protocol/status.ts';

/** Numbers the tabs in the order of their first message, after those of the worker before this one. */
export class OpenTabs {
  readonly #leader: ClientId;
  /** Also of tabs that are gone: the browser may bring them back. */
  readonly #numbers: Map<ClientId, number>;
  readonly #open = new Set<ClientId>();
  #last: number;

  constructor({ tabs, leader, last }: TabNumbers) {
    this.#leader = leader;
    this.#numbers = new Map(tabs.map(({ clientId, number }) => [clientId, number]));
    this.#last = last;
  }

  get current(): TabNumbers {
    const tabs = [...this.#numbers].flatMap(([clientId, number]) =>
      this.#open.has(clientId) ? [{ clientId, number }] : [],
    );
    return { tabs, leader: this.#leader, last: this.#last };
  }

  /** Undefined for a client that is no tab. */
  numberOf(clientId: ClientId): number | undefined {
    return this.#numbers.get(clientId);
  }

  add(clientId: ClientId): void {
    if (!this.#numbers.has(clientId)) this.#numbers.set(clientId, (this.#last += 1));
    this.#open.add(clientId);
  }

  /** Returns whether it was an open tab. */
  delete(clientId: ClientId): boolean {
    return this.#open.delete(clientId);
  }
}
