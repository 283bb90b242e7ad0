import type { ClientMessage } from '../../protocol/client-messages.ts';
import type { TabNumbers, TabRole } from '../../protocol/status.ts';
import type { Unsigned } from '../../protocol/wire.ts';
import type { WorkerMessage } from '../../protocol/worker-messages.ts';

/** A message before the client has signed it. */
export type Outgoing = Unsigned<ClientMessage>;

export interface LinkListener {
  /** How long the leader may say nothing now, in ms. Undefined while this tab waits for nothing. */
  readonly patienceMs: number | undefined;
  /** The tabs as this one knows them, as the leader. */
  readonly tabNumbers: TabNumbers;
  /** Messages can be sent from now on. */
  onOpen(): void;
  onMessage(message: WorkerMessage): void;
  /** Messages in flight are lost, and the worker has forgotten this client. `onOpen` follows once there is a worker. */
  onInterrupted(): void;
  onRole(role: TabRole): void;
  /** In a tab that follows only: whether any tab leads. */
  onLeader(isThere: boolean): void;
  /** The browser is about to freeze or close this tab, so its code may not run for a while, or never again. */
  onSuspend(): void;
  /** A worker of another version of the protocol serves. */
  onForeignWorker(version: number): void;
  /** No worker can be kept running in this tab. */
  onFailure(error: Error): void;
}

/** Connects a tab and the worker. */
export interface Link {
  /** Why the worker is not shared with other tabs; empty if it is. */
  readonly isolationReason: string;
  /** @throws DataCloneError for a value that cannot be cloned. */
  post(message: Outgoing): void;
  /** Ends this tab's worker, if it runs one. Another tab may take over. */
  close(): void;
}

/** The listener is not called before this returns. */
export type OpenLink = (listener: LinkListener) => Link;
