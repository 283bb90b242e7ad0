import type { ClientId, WorkerId } from '../../protocol/ids.ts';
import { PROTOCOL_VERSION, type Unsigned } from '../../protocol/wire.ts';
import type { UnreadMessage } from '../../protocol/client-messages.ts';
import { toWireError } from '../../protocol/wire-errors.ts';
import type { WorkerMessage } from '../../protocol/worker-messages.ts';
import type { Locks } from '../../protocol/locks.ts';
import type { AppNames } from '../../protocol/names.ts';

/** Carries the worker's messages to its clients. */
export interface Outbox {
  toAll(message: WorkerMessage): void;
  /** Does nothing if the client is gone. @throws DataCloneError. */
  toClient(clientId: ClientId, message: WorkerMessage): void;
}

/** Sends messages to the tabs, each signed with this worker's id. */
export class TabMessages {
  readonly #workerId: WorkerId;
  readonly #outbox: Outbox;

  constructor(workerId: WorkerId, outbox: Outbox) {
    this.#workerId = workerId;
    this.#outbox = outbox;
  }

  toAll(message: Unsigned<WorkerMessage>): void {
    this.#outbox.toAll({ version: PROTOCOL_VERSION, workerId: this.#workerId, ...message });
  }

  /** @throws DataCloneError. */
  toClient(clientId: ClientId, message: Unsigned<WorkerMessage>): void {
    this.#outbox.toClient(clientId, { version: PROTOCOL_VERSION, workerId: this.#workerId, ...message });
  }

  /** Answers a message that can't be read: its sender would wait forever. */
  refuse({ clientId, callId, requestIds, error: cause }: UnreadMessage): void {
    const error = toWireError(cause);
    if (callId !== undefined) this.toClient(clientId, { type: 'call-refused', callId, error });
    if (requestIds.length === 0) return;
    const updates = requestIds.map((requestId) => ({ type: 'failed', requestId, error }) as const);
    this.toClient(clientId, { type: 'updates', updates });
  }
}

/** The bridge, which is a client like a tab. */
interface BridgeClient {
  readonly clientId: ClientId;
  /** Does nothing if the bridge is gone. @throws Error for a value without a text form. */
  send(message: WorkerMessage): void;
}

/** Messages to all tabs that also go to the bridge. It draws no charts, so it needs no others. */
const OVERHEARD: ReadonlySet<WorkerMessage['type']> = new Set(['serving', 'status']);

/** Sends to tabs and to the latest bridge. Replies to a closed bridge are dropped: nobody else asked. */
export class BridgedOutbox implements Outbox {
  bridge: BridgeClient | undefined;
  readonly #tabs: Outbox;

  constructor(tabs: Outbox) {
    this.#tabs = tabs;
  }

  toAll(message: WorkerMessage): void {
    this.#tabs.toAll(message);
    if (OVERHEARD.has(message.type)) this.bridge?.send(message);
  }

  toClient(clientId: ClientId, message: WorkerMessage): void {
    if (clientId === this.bridge?.clientId) this.bridge.send(message);
    else this.#tabs.toClient(clientId, message);
  }
}

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
