import type { ClientId } from '../protocol/ids.ts';
import type { WorkerMessage } from '../protocol/worker-messages.ts';
import { clientName } from '../protocol/names.ts';

/** Carries the worker's messages to its clients. */
export interface Outbox {
  toAll(message: WorkerMessage): void;
  /** Does nothing for a client that is gone. @throws DataCloneError. */
  toClient(clientId: ClientId, message: WorkerMessage): void;
}

/** Uses the shared channel for all tabs, and a channel per tab, so that one tab's messages cost the others nothing. */
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

/** Sends everything to the tab that made the worker, the only one that it serves. */
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
