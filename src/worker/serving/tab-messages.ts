import { createWorkerId, type ClientId } from '../../protocol/ids.ts';
import { PROTOCOL_VERSION, type Unsigned } from '../../protocol/wire.ts';
import type { WorkerMessage } from '../../protocol/worker-messages.ts';
import { toWireError } from '../../protocol/wire-errors.ts';
import type { Outbox } from './outbox.ts';

/** A client's question that gets one answer. */
export interface ClientCall {
  readonly clientId: ClientId;
  readonly callId: number;
}

/** Sends messages to the tabs, each signed with this worker's id. */
export class TabMessages {
  readonly #workerId = createWorkerId();
  readonly #outbox: Outbox;

  constructor(outbox: Outbox) {
    this.#outbox = outbox;
  }

  toAll(message: Unsigned<WorkerMessage>): void {
    this.#outbox.toAll({ version: PROTOCOL_VERSION, workerId: this.#workerId, ...message });
  }

  /** @throws DataCloneError. */
  toClient(clientId: ClientId, message: Unsigned<WorkerMessage>): void {
    this.#outbox.toClient(clientId, { version: PROTOCOL_VERSION, workerId: this.#workerId, ...message });
  }

  /** Sends what `result` returns, or the error that it throws. */
  answer(call: ClientCall, result: () => unknown): void {
    const { clientId, callId } = call;
    try {
      this.toClient(clientId, { type: 'call-answered', callId, result: result() });
    } catch (error) {
      this.refuse(call, error);
    }
  }

  refuse({ clientId, callId }: ClientCall, error: unknown): void {
    this.toClient(clientId, { type: 'call-refused', callId, error: toWireError(error) });
  }
}
