import type {
  BatchRecord,
  RequestActivity,
  RequestId,
  RequestUpdate,
  ServeStats,
  ServeStatus,
} from '../protocol/protocol.ts';

/** What happens to a request of this client: the worker's updates, and those that the client makes itself. */
export type ClientUpdate =
  | RequestUpdate
  | {
      readonly type: 'submitted';
      readonly requestId: RequestId;
      readonly deployment: string;
      /** The prompt, or another deployment's input, as the caller gave it. */
      readonly input: unknown;
    }
  /** The request's worker was lost; it waits at the next one. */
  | { readonly type: 'resubmitted'; readonly requestId: RequestId };

export interface Activity {
  /** `requests` holds all requests of other tabs that wait or run; otherwise only those that changed. */
  readonly isSnapshot: boolean;
  readonly requests: readonly RequestActivity[];
}

export interface Topics {
  readonly status: ServeStatus;
  readonly stats: ServeStats;
  /** Each batch of a deployment other than the text generator, when it has ended. */
  readonly batch: BatchRecord;
  /** What happens to the requests of this client. */
  readonly requests: readonly ClientUpdate[];
  /** What happens to the requests of other tabs. */
  readonly activity: Activity;
}
