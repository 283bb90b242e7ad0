import type { ClientMessage } from '../../protocol/client-messages.ts';
import type { TabRole } from '../../protocol/status.ts';
import type { Unsigned } from '../../protocol/wire.ts';
import type { WorkerMessage } from '../../protocol/worker-messages.ts';

/** A message before the client has signed it. */
export type Outgoing = Unsigned<ClientMessage>;

export interface LinkListener {
  /** Messages go through from now on. */
  onOpen(): void;
  onMessage(message: WorkerMessage): void;
  /** Messages on their way are lost, and the worker has forgotten this client; `onOpen` follows when there is a worker. */
  onInterrupted(): void;
  onRole(role: TabRole): void;
  /** The browser is about to freeze or close this tab: its code may not run for a while, or never again. */
  onPutAway(): void;
  /** A worker of another version of the protocol serves. */
  onForeignWorker(version: number): void;
  /** No worker can be kept running in this tab. */
  onFailure(error: Error): void;
}

/** How a tab and the worker reach each other. */
export interface Link {
  /** Why the worker is not shared with the other tabs; empty where it is. */
  readonly isolationReason: string;
  /** @throws DataCloneError for what cannot be cloned. */
  post(message: Outgoing): void;
  /** Ends a worker in this tab; another tab may take over. */
  close(): void;
}

/** The listener hears nothing before the call has returned. */
export type OpenLink = (listener: LinkListener) => Link;
