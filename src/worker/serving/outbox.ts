import type { ClientId, WorkerMessage } from '../protocol/protocol.ts';
import { clientName } from '../protocol/names.ts';

/** Where the worker's messages go. */
export interface Outbox {
  toAll(message: WorkerMessage): void;
  /** A tab that is gone gets nothing. @throws DataCloneError for what cannot be cloned. */
  toClient(clientId: ClientId, message: WorkerMessage): void;
}

/** To all tabs over the shared channel, to one over its own: what one tab asked for costs the others nothing. */
export class ChannelOutbox implements Outbox {
  readonly #shared: BroadcastChannel;
  readonly #channels = new Map<ClientId, BroadcastChannel>();

  constructor(shared: BroadcastChannel) {
    this.#shared = shared;
  }

  open(clientId: ClientId): void {
    this.#channels.set(clientId, new BroadcastChannel(clientName(clientId)));
  }

  close(clientId: ClientId): void {
    this.#channels.get(clientId)?.close();
    this.#channels.delete(clientId);
  }

  toAll(message: WorkerMessage): void {
    this.#shared.postMessage(message);
  }

  toClient(clientId: ClientId, message: WorkerMessage): void {
    this.#channels.get(clientId)?.postMessage(message);
  }
}

interface Port {
  postMessage(message: WorkerMessage): void;
}

/** To the tab that made the worker, the only one that it serves. */
export class PortOutbox implements Outbox {
  readonly #port: Port;

  constructor(port: Port) {
    this.#port = port;
  }

  toAll(message: WorkerMessage): void {
    this.#port.postMessage(message);
  }

  toClient(_: ClientId, message: WorkerMessage): void {
    this.#port.postMessage(message);
  }
}
