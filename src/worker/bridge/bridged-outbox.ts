import type { ClientId, WorkerMessage } from '../protocol.ts';
import type { Outbox } from '../tabs/outbox.ts';

/** What the bridge wants of that which all tabs hear: it draws no charts. */
const FOR_BRIDGE: ReadonlySet<WorkerMessage['type']> = new Set(['serving', 'status']);

/** To the tabs as before, and to the bridge, which is a client that is no tab. */
export class BridgedOutbox implements Outbox {
  readonly #tabs: Outbox;
  /** Of the last bridge, also when it is gone: what is still said to it is for nobody else. */
  #bridgeId: ClientId | undefined;
  #send: ((message: WorkerMessage) => void) | undefined;

  constructor(tabs: Outbox) {
    this.#tabs = tabs;
  }

  /** @param send Throws for what cannot be sent. */
  openBridge(clientId: ClientId, send: (message: WorkerMessage) => void): void {
    this.#bridgeId = clientId;
    this.#send = send;
  }

  closeBridge(): void {
    this.#send = undefined;
  }

  toAll(message: WorkerMessage): void {
    this.#tabs.toAll(message);
    if (FOR_BRIDGE.has(message.type)) this.#send?.(message);
  }

  toClient(clientId: ClientId, message: WorkerMessage): void {
    if (clientId === this.#bridgeId) this.#send?.(message);
    else this.#tabs.toClient(clientId, message);
  }
}
