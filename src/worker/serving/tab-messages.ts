import type { ClientId, WorkerId } from '../../protocol/ids.ts';
import { PROTOCOL_VERSION, type Unsigned } from '../../protocol/wire.ts';
import type { UnreadMessage } from '../../protocol/client-messages.ts';
import { toWireError } from '../../protocol/wire-errors.ts';
import type { WorkerMessage } from '../../protocol/worker-messages.ts';

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
