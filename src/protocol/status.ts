import * as v from 'valibot';
import { KNOBS, type BatchingPolicy } from '../batching/generation/policy.ts';
import { fromNames, keysOf } from '../batching/base/records.ts';
import type { ClientId, OverrideId } from './ids.ts';
import { backendInfo, encoderInfo, loadFailure, loadProgress, modelInfo, modelLoad } from './models.ts';
import { recovery } from './recovery.ts';
import { count, duration, id, name, passing, wireError, type Wire } from './wire.ts';

export { DEFAULT_POLICY } from '../batching/generation/policy.ts';
export type { BatchingPolicy, PolicyName } from '../batching/generation/policy.ts';

export const policy: v.GenericSchema<unknown, BatchingPolicy> = v.object(
  /* @__PURE__ */ fromNames<{
    readonly [Knob in keyof BatchingPolicy]: v.GenericSchema<unknown, BatchingPolicy[Knob]>;
  }>(/* @__PURE__ */ keysOf(KNOBS), (knob) => passing<unknown>(KNOBS[knob])),
);

export const overrideId = id<OverrideId>();

export const batchKnobs = v.object({
  /** The most items in one batch, or their largest size by the deployment's own measure. Integer >= 1. */
  maxBatchSize: count,
  /** How long the oldest waiting request may wait for others to join its batch, in ms. Finite >= 0. */
  batchWaitTimeoutMs: duration,
  /** The most batches that run at the same time. Integer >= 1. */
  maxConcurrentBatches: count,
  /** How many waiting items are taken at once and sorted by their size. Integer >= 1. Left out where all items have one size. */
  sortWindow: v.exactOptional(count),
});
/**
 * The knobs of a deployment that is served by request-level batching.
 *
 * @interface
 */
export type BatchKnobs = Wire<typeof batchKnobs>;

export const heldOverride = v.object({ overrideId, deployment: name, knobs: v.union([policy, batchKnobs]) });
/** Temporary knobs of one deployment. They replace the users' own while the client that set them is open. */
export type HeldOverride = Wire<typeof heldOverride>;

const deploymentInfo = v.object({
  /** The name for `getHandle`. */
  name,
  /** The knobs in force. */
  knobs: batchKnobs,
});
/**
 * A deployment that the worker serves.
 *
 * @interface
 */
export type DeploymentInfo = Wire<typeof deploymentInfo>;

export const knobSettings = v.object({
  /** Counts the changes. Settings with a higher count win. */
  revision: count,
  /** The users' own policy. It has no effect on a server. */
  policy,
  /** All but the text generator. They serve before its model is loaded. */
  deployments: v.array(deploymentInfo),
});
/** The knobs of every deployment. They outlive the worker in which they were turned. */
export type KnobSettings = Wire<typeof knobSettings>;

export const tabNumbers = v.object({
  /** The open tabs, in the order in which they came. */
  tabs: v.array(v.object({ clientId: id<ClientId>(), number: count })),
  /** The tab that runs the worker. */
  leader: id<ClientId>(),
  /** The highest number so far. A closed tab's is not given again. */
  last: count,
});
/** The tabs by number. A worker goes on with the numbers of the one before. */
export type TabNumbers = Wire<typeof tabNumbers>;

export const workerStatus = v.object({
  state: v.picklist(['loading', 'warming-up', 'ready', 'failed']),
  knobs: knobSettings,
  /** Left out if the users' own knobs are in force. */
  override: v.exactOptional(heldOverride),
  tabs: tabNumbers,
  /** Progress of the first model, until it serves. */
  progress: v.exactOptional(loadProgress),
  /** The current model. */
  model: v.exactOptional(modelInfo),
  /** Where the model runs. */
  backend: v.exactOptional(backendInfo),
  /** Set while `ejectModel` keeps the model out of memory: the next request loads it again. */
  isEjected: v.exactOptional(v.literal(true)),
  /** The models of the embedder and the reranker. */
  encoders: v.exactOptional(v.array(encoderInfo)),
  /** The model that is being loaded while `model` serves. */
  load: v.exactOptional(modelLoad),
  /** Kept until the next load. */
  loadFailure: v.exactOptional(loadFailure),
  /** Why the state is `failed`. */
  error: v.exactOptional(wireError),
  /** Set by a worker that replaced another one, and by one that is about to be replaced. */
  recovery: v.exactOptional(recovery),
});
/** The worker's state, the same for every tab. */
export type WorkerStatus = Wire<typeof workerStatus>;

/**
 * `loading`, `warming-up` (the first runs compile shaders), `ready`, `failed` (see `error`), or `closed` after `close()`. Requests
 * wait in the first two.
 *
 * @useDeclaredType
 */
export type TabserveState = WorkerStatus['state'] | 'closed';

/** `leader`: the worker runs in this tab. `follower`: it runs in another one. */
export type TabRole = 'leader' | 'follower';

/** An open tab of the app. */
export interface OpenTab {
  /** From 1, in the order in which tabs came. It survives a handover. A closed tab's number is not given again while others are open. */
  readonly number: number;
  /** Whether it is the tab that asks. */
  readonly isThis: boolean;
  /** Whether it runs the worker. */
  readonly isLeader: boolean;
}

/** The worker's status as one tab sees it. */
export interface TabserveStatus extends Omit<WorkerStatus, 'state' | 'knobs' | 'override' | 'tabs'> {
  /** Whether the text generator can run. */
  readonly state: TabserveState;
  /** Whether this tab runs the worker. */
  readonly role: TabRole;
  /** Tabs that the worker serves, including its own. */
  readonly tabs: readonly OpenTab[];
  /** How many they are. */
  readonly numTabs: number;
  /** The policy in force, an override's included. */
  readonly policy: BatchingPolicy;
  /** Left out if the users' own policy is in force. */
  readonly override?: {
    /** Whether this tab has set it. */
    readonly isOwn: boolean;
    /** The users' own policy, which `configure` changes. It is in force again when the override ends. */
    readonly basePolicy: BatchingPolicy;
  };
  /** All but the text generator. They serve before its model is loaded. */
  readonly deployments: readonly DeploymentInfo[];
  /** The worker that served this tab was lost, and the next one is not ready yet. */
  readonly isHandover: boolean;
  /** Why this tab shares its worker with no other tab; empty if it shares one. */
  readonly isolationReason: string;
  /** Set while no tab leads and this one may not (`canLead: false`): why its requests wait. Otherwise empty. */
  readonly waitReason: string;
}
