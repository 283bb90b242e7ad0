import type { Locks } from '../../protocol/locks.ts';
import type { ClientId } from '../../protocol/ids.ts';
import type { AppNames } from '../../protocol/names.ts';
import type { WorkerMessage } from '../../protocol/worker-messages.ts';
import type { Outbox } from './tab-messages.ts';

export interface TabListener {
  onJoined(clientId: ClientId): void;
  onGone(clientId: ClientId): void;
}

/** The tab that made this worker. Messages over its port take one hop, and those over channels go through the browser's process. */
export interface HostTab {
  readonly clientId: ClientId;
  /** @throws DataCloneError. */
  post(message: WorkerMessage): void;
}

/**
 * The channels to the tabs: one that all share, and one per tab, so that one tab's messages cost the others nothing. The tab that made
 * this worker gets all over its port. Each tab holds a lock while it is open, and the worker queues for it. Once the worker gets the
 * lock, the tab is gone.
 */
export class TabChannels implements Outbox {
  readonly #shared: BroadcastChannel;
  readonly #locks: Locks;
  readonly #names: AppNames;
  readonly #listener: TabListener;
  readonly #host: HostTab;
  readonly #channels = new Map<ClientId, BroadcastChannel>();

  constructor(shared: BroadcastChannel, host: HostTab, locks: Locks, names: AppNames, listener: TabListener) {
    this.#shared = shared;
    this.#host = host;
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

  /** The host ignores what comes over the channel, so that all comes to it in one order. A tab that isn't met yet needs one message. */
  toAll(message: WorkerMessage): void {
    this.#host.post(message);
    const hasOthers = this.#channels.size > Number(this.#channels.has(this.#host.clientId));
    if (hasOthers || message.type === 'serving') this.#shared.postMessage(message);
  }

  toClient(clientId: ClientId, message: WorkerMessage): void {
    if (clientId === this.#host.clientId) this.#host.post(message);
    else this.#channels.get(clientId)?.postMessage(message);
  }
}
