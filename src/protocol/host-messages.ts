import * as v from 'valibot';
import { backendChoice, rung } from './ladder.ts';
import { dtypeChoice, firstSource, modelSource } from './models.ts';
import { fault, workerPast } from './recovery.ts';
import { requestId } from './requests.ts';
import { tabNumbers } from './status.ts';
import { count, duration, name, parse, version, type Wire } from './wire.ts';

// Messages between a worker and the tab that made it, over the worker's own port.

// @__NO_SIDE_EFFECTS__
function message<Type extends string, Entries extends v.ObjectEntries>(type: Type, entries: Entries) {
  return v.object({ version, type: v.literal(type), ...entries });
}

const encoderInit = v.object({
  /** `embedder` or `reranker`. */
  deployment: name,
  source: modelSource,
});
/** A model that is loaded beside the first one. */
export type EncoderInit = Wire<typeof encoderInit>;

const workerInit = message('init', {
  /** The app's name, unique within its origin. Left out for the app without a name. */
  app: v.exactOptional(name),
  /** The model that serves until `load-model`. */
  model: firstSource,
  /** The precision of that model. */
  dtype: dtypeChoice,
  /** Models that serve beside it. */
  encoders: v.exactOptional(v.array(encoderInit)),
  backend: backendChoice,
  /** Whether the worker serves all tabs over channels, or only its own tab over its port. */
  isShared: v.boolean(),
  /**
   * Whether it runs beside the app's own worker, for a check. It loads the model that serves, from this device alone, and only if there
   * is memory for both. It runs no jobs, and leaves the notes about starts as they are.
   */
  isTrial: v.exactOptional(v.boolean()),
  /** The name of a lock that the worker holds until it ends. Left out without Web Locks. */
  lifeLock: v.exactOptional(name),
  past: workerPast,
  /** As this tab, the leader, knows them. */
  tabs: tabNumbers,
  /** The folder of the bridge that served the page, ending in `/`. Left out if another server did. */
  bridgeUrl: v.exactOptional(v.string()),
});
/** The tab's first message to the worker. */
export type WorkerInit = Wire<typeof workerInit>;

/** The models that a worker begins with. */
export type FirstModelInit = Pick<WorkerInit, 'model' | 'dtype' | 'encoders'>;

export function parseWorkerInit(data: unknown): WorkerInit | undefined {
  return parse(workerInit, data);
}

const hostPing = message('ping', {});
/** The worker answers it with `pong`. */
export type HostPing = Wire<typeof hostPing>;

export function isHostPing(data: unknown): data is HostPing {
  return v.is(hostPing, data);
}

const hostMessage = v.variant('type', [
  /** The worker runs, answers pings, and holds its lock if it has one. */
  message('alive', {}),
  message('on-rung', { rung }),
  /** The start is over: the model serves, or has failed. */
  message('ready', {}),
  /** Requests wait or run from now until `idle`. */
  message('busy', {}),
  message('idle', {}),
  /** The first token of this worker, or the first answer of a deployment while no prompt waits or runs. */
  message('progress', {}),
  /** A step is about to begin, or produced first tokens. Sent only if an earlier worker ended without naming its step. */
  message('step', {
    /** Requests of the step that have no token from this worker. */
    stalledIds: v.array(requestId),
  }),
  /** The worker starts to read the prompt of this request, which nothing can interrupt. Without a request, it is done. */
  message('reading', { requestId: v.exactOptional(requestId) }),
  message('pong', {
    /** The longest time that a step may take. */
    patienceMs: duration,
  }),
  /** The worker cannot continue. It reports nothing about its unfinished requests. */
  message('fault', {
    fault,
    /** Requests of the failed step that have no token from this worker. */
    stalledIds: v.array(requestId),
    /** Sequences that ran, whether or not they were in that step. */
    numRunning: count,
  }),
]);
/** A message from the worker to the tab that made it. */
export type HostMessage = Wire<typeof hostMessage>;

/** Checks a message from the tab's own worker. */
export function parseHostMessage(data: unknown): HostMessage | undefined {
  return parse(hostMessage, data);
}
