import type { Locks } from '../../protocol/locks.ts';
import type { ClientId } from '../../protocol/ids.ts';
import type { AppNames } from '../../protocol/names.ts';
import type { WorkerMessage } from '../../protocol/worker-messages.ts';
import type { Outbox } from './tab-messages.ts';

export interface TabListener {
  onJoined(clientId: ClientId): void;
  onGone(clientId: ClientId): void;
}

/**
 * The channels to the tabs: one that all share, and one per tab, so that one tab's messages cost the others nothing. Each tab holds
 * a lock while it is open, and the worker queues for it. Once the worker gets the lock, the tab is gone.
 */
export class TabChannels implements Outbox {
  readonly #shared: BroadcastChannel;
  readonly #locks: Locks;
  readonly #names: AppNames;
  readonly #listener: TabListener;
  readonly #channels = new Map<ClientId, BroadcastChannel>();

  constructor(shared: BroadcastChannel, locks: Locks, names: AppNames, listener: TabListener) {
    this.#shared = shared;
    this.#locks = locks;
    this.#names = names;
    this.#listener = listener;
  }

  /** Adds a tab at its first message. A tab that is gone by then leaves at once. */
  meet(clientId: ClientId): void {
    if (this.#channels.has(clientId)) return;
    const name = this.#names.clientName(clientId);
    const channel = new BroadcastChannel(name);
    this.#channels.set(clientId, channel);
    this.#listener.onJoined(clientId);
    void this.#locks.request(name, () => {
      channel.close();
      this.#channels.delete(clientId);
      this.#listener.onGone(clientId);
    });
  }

  toAll(message: WorkerMessage): void {
    this.#shared.postMessage(message);
  }

  toClient(clientId: ClientId, message: WorkerMessage): void {
    this.#channels.get(clientId)?.postMessage(message);
  }
}
