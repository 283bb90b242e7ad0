import type { BatchRecord, TabserveStats, StepBatch } from '../protocol/stats.ts';
import type { ClientId, RequestId } from '../protocol/ids.ts';
import type { RequestActivity, RequestUpdate } from '../protocol/requests.ts';
import type { TabserveStatus } from '../protocol/status.ts';
import type { WorkerMessage } from '../protocol/worker-messages.ts';
import { InvalidOptionError } from '../batching/base/errors.ts';
import { BatchLog, stepBatchOf } from '../protocol/batch-log.ts';
import { Listeners } from './base/listeners.ts';

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

type ByTopic = { readonly [Topic in keyof TopicValues]: Listeners<TopicValues[Topic]> };

/** Subscriptions, and the last batches and steps. */
export class Topics {
  readonly #clientId: ClientId;
  readonly batchLog = new BatchLog<BatchRecord | StepBatch>();
  readonly #listeners: ByTopic = {
    status: new Listeners(),
    stats: new Listeners(),
    batch: new Listeners(),
    requests: new Listeners(),
    activity: new Listeners(),
  };

  constructor(clientId: ClientId) {
    this.#clientId = clientId;
  }

  /** @throws InvalidOptionError. */
  subscribe<Topic extends keyof TopicValues>(topic: Topic, listener: TopicListener<Topic>): () => void {
    const known = Object.keys(this.#listeners);
    if (!known.includes(topic)) throw InvalidOptionError.of('topic', `one of ${known.join(', ')}`, topic);
    return this.#listeners[topic].add(listener);
  }

  publish<Topic extends keyof TopicValues>(topic: Topic, value: TopicValues[Topic]): void {
    this.#listeners[topic].tell(value);
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
