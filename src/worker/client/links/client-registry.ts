import type { ClientId } from '../../protocol/ids.ts';
import { clientName } from '../../protocol/names.ts';

/** The part of `navigator.locks` that is used here. */
export type Locks = Pick<LockManager, 'request'>;

export interface ClientRegistryListener {
  onJoined(clientId: ClientId): void;
  onGone(clientId: ClientId): void;
}

/**
 * The tabs that the worker serves. Each tab holds a lock for life, and the registry queues for it: once the lock is granted,
 * the tab is gone.
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

  /** Adds a tab at its first message. A tab that is gone by then leaves at once. */
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
