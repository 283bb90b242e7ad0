import type { ClientId, WorkerMessage } from '../../protocol/protocol.ts';
import type { Outbox } from '../outbox.ts';

/** A client that is no tab. */
export interface BridgeClient {
  readonly clientId: ClientId;
  /** One that is gone does nothing. @throws Error for what cannot be sent. */
  send(message: WorkerMessage): void;
  /** What all tabs hear. */
  overhear(message: WorkerMessage): void;
}

/** To the tabs as before, and to the bridge: the last that has come, also when it is gone, as what it asked is for nobody else. */
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
