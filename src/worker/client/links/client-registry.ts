import type { ClientId } from '../../protocol/protocol.ts';
import { clientName } from '../../protocol/names.ts';

/** What this needs of the platform's lock manager. */
export type Locks = Pick<LockManager, 'request'>;

export interface ClientRegistryListener {
  onJoined(clientId: ClientId): void;
  onGone(clientId: ClientId): void;
}

/**
 * The tabs that the worker serves. Each holds a lock of its own for life; the registry queues for it, and once it is
 * granted the tab is gone, however it went.
 */
export class ClientRegistry {
  readonly #locks: Locks;
  readonly #listener: ClientRegistryListener;
  readonly #clients = new Set<ClientId>();

  constructor(locks: Locks, listener: ClientRegistryListener) {
    this.#locks = locks;
    this.#listener = listener;
  }

  get size(): number {
    return this.#clients.size;
  }

  /** Takes in a tab at its first message. One that is gone already, its message still on the way, leaves at once. */
  meet(clientId: ClientId): void {
    if (this.#clients.has(clientId)) return;
    this.#clients.add(clientId);
    this.#listener.onJoined(clientId);
    void this.#locks.request(clientName(clientId), () => {
      this.#clients.delete(clientId);
      this.#listener.onGone(clientId);
    });
  }
}
