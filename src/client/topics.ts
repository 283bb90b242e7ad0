import type { BatchRecord, TabserveStats, StepBatch } from '../protocol/stats.ts';
import type { ClientId, RequestId } from '../protocol/ids.ts';
import type { RequestActivity, RequestUpdate } from '../protocol/requests.ts';
import type { TabserveStatus } from '../protocol/status.ts';
import type { WorkerMessage } from '../protocol/worker-messages.ts';
import { BatchLog, stepBatchOf } from '../protocol/batch-log.ts';

/** An update of a request of this client: from the worker, or made by the client itself. */
export type ClientUpdate =
  | RequestUpdate
  /** Sent by this client. */
  | {
      readonly type: 'submitted';
      readonly requestId: RequestId;
      /** The deployment's name. */
      readonly deployment: string;
      /** The prompt, or another deployment's input, as the caller gave it. */
      readonly input: unknown;
    }
  /** The request's worker was lost. The request waits at the next one. */
  | { readonly type: 'resubmitted'; readonly requestId: RequestId };

/** The state of requests of other tabs. */
export interface Activity {
  /** Whether `requests` has all waiting and running requests of other tabs. If not, it has only those that changed. */
  readonly isSnapshot: boolean;
  /** The newest state of each. */
  readonly requests: readonly RequestActivity[];
}

/** The values of `subscribe`, by topic. */
export interface TopicValues {
  /** Each change of the status. */
  readonly status: TabserveStatus;
  /** The text generator's figures, at most every 100 ms while it works. */
  readonly stats: TabserveStats;
  /** Each finished batch of a deployment other than the text generator. */
  readonly batch: BatchRecord;
  /** Updates of this client's requests. */
  readonly requests: readonly ClientUpdate[];
  /** Requests of other tabs. */
  readonly activity: Activity;
}

/** Gets each new value of a topic. */
export type TopicListener<Topic extends keyof TopicValues> = (value: TopicValues[Topic]) => void;

type Listeners = { readonly [Topic in keyof TopicValues]: Set<TopicListener<Topic>> };

/** Subscriptions, and the last batches and steps. */
export class Topics {
  readonly #clientId: ClientId;
  readonly batchLog = new BatchLog<BatchRecord | StepBatch>();
  readonly #listeners: Listeners = {
    status: new Set(),
    stats: new Set(),
    batch: new Set(),
    requests: new Set(),
    activity: new Set(),
  };

  constructor(clientId: ClientId) {
    this.#clientId = clientId;
  }

  subscribe<Topic extends keyof TopicValues>(topic: Topic, listener: TopicListener<Topic>): () => void {
    this.#listeners[topic].add(listener);
    return () => this.#listeners[topic].delete(listener);
  }

  publish<Topic extends keyof TopicValues>(topic: Topic, value: TopicValues[Topic]): void {
    for (const listener of this.#listeners[topic]) {
      try {
        listener(value);
      } catch (error) {
        // An error of one listener reaches the console, but not the other listeners.
        queueMicrotask(() => {
          throw error;
        });
      }
    }
  }

  /** Takes over the last batches and steps of a worker. */
  restore({ batches, steps = [] }: Extract<WorkerMessage, { type: 'welcome' }>): void {
    for (const batch of [...batches, ...steps]) this.batchLog.add(batch);
  }

  publishStats(stats: TabserveStats): void {
    for (const step of stats.steps) this.batchLog.add(stepBatchOf(step));
    this.publish('stats', stats);
  }

  publishBatch(batch: BatchRecord): void {
    this.batchLog.add(batch);
    this.publish('batch', batch);
  }

  publishActivity(activity: readonly RequestActivity[], isSnapshot: boolean): void {
    const requests = activity.filter(({ clientId }) => clientId !== this.#clientId);
    if (isSnapshot || requests.length > 0) this.publish('activity', { isSnapshot, requests });
  }
}
