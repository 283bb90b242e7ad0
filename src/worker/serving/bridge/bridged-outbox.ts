import type { ClientId } from '../../../protocol/ids.ts';
import type { WorkerMessage } from '../../../protocol/worker-messages.ts';
import type { Outbox } from '../tab-messages.ts';

/** The bridge, which is a client like a tab. */
export interface BridgeClient {
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
