import type { ClientId } from '../../protocol/ids.ts';
import type { WorkerMessage } from '../../protocol/worker-messages.ts';

/** Carries the worker's messages to its clients. */
export interface Outbox {
  toAll(message: WorkerMessage): void;
  /** Does nothing if the client is gone. @throws DataCloneError. */
  toClient(clientId: ClientId, message: WorkerMessage): void;
}
