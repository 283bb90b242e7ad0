import type { ClientId } from '../../protocol/ids.ts';
import type { WorkerMessage } from '../../protocol/worker-messages.ts';
import type { Outbox } from '../outbox.ts';

/** The bridge, which is a client as tabs are. */
export interface BridgeClient {
  readonly clientId: ClientId;
  /** Does nothing if the bridge is gone. @throws Error for a value without a text form. */
  send(message: WorkerMessage): void;
  /** Gets the messages to all tabs. */
  overhear(message: WorkerMessage): void;
}

/** Sends to tabs, and to the latest bridge. A closed bridge stays set: replies to it are dropped, since nobody else asked. */
export class BridgedOutbox implements Outbox {
  bridge: BridgeClient | undefined;
  readonly #tabs: Outbox;

  constructor(tabs: Outbox) {
    this.#tabs = tabs;
  }

  toAll(message: WorkerMessage): void {
    this.#tabs.toAll(message);
    this.bridge?.overhear(message);
  }

  toClient(clientId: ClientId, message: WorkerMessage): void {
    if (clientId === this.bridge?.clientId) this.bridge.send(message);
    else this.#tabs.toClient(clientId, message);
  }
}
