import type { ClientMessage, TabRole, WorkerMessage } from '../../protocol/protocol.ts';

/** A message before the client has signed it. */
export type Outgoing<Message = ClientMessage> = Message extends unknown
  ? Omit<Message, 'version' | 'clientId'>
  : never;

export interface LinkListener {
  /** Messages go through from now on: what a worker needs to know this tab may be said. */
  onOpen(): void;
  onMessage(message: WorkerMessage): void;
  /** What was on its way is lost, and the worker that was there knows this client no more; `onOpen` follows when there is one. */
  onInterrupted(): void;
  onRole(role: TabRole): void;
  /** The browser is about to freeze this tab, or to close it: no code of it may run for a while, or ever. */
  onPutAway(): void;
  /** A worker of another version of the protocol serves. */
  onForeignWorker(version: number): void;
  /** No worker can be kept running in this tab. */
  onFailure(error: Error): void;
}

/** How a tab and the worker reach each other. */
export interface Link {
  /** Empty where the worker is shared with the other tabs, else why it is not. */
  readonly isolationReason: string;
  /** @throws DataCloneError for what cannot be cloned. */
  post(message: Outgoing): void;
  /** Leaves: a worker in this tab ends, and another tab may take over. */
  close(): void;
}

/** The listener hears nothing before the call has returned. */
export type OpenLink = (listener: LinkListener) => Link;
