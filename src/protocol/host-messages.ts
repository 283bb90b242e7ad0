import * as v from 'valibot';
import { backendChoice, rung } from './ladder.ts';
import { fault, workerPast } from './recovery.ts';
import { requestId } from './requests.ts';
import { count, duration, name, parse, version, type Wire } from './wire.ts';

// Between a worker and the tab that made it, over the worker's own port.

// @__NO_SIDE_EFFECTS__
function message<Type extends string, Entries extends v.ObjectEntries>(type: Type, entries: Entries) {
  return v.object({ version, type: v.literal(type), ...entries });
}

const upstreamInit = v.object({
  /** For display only: requests go to the bridge, which knows the upstream's address. */
  url: v.string(),
  /** Which of its models answers; the first in its list where left out. */
  model: v.exactOptional(v.string()),
});
/** A server that generates instead of a model in the tab: the bridge that serves the page was started with it. */
export type UpstreamInit = Wire<typeof upstreamInit>;

const workerInit = message('init', {
  /** The app's name among those of its origin; left out for the one without a name. */
  app: v.exactOptional(name),
  /** The folder of the embedded model, ending in `/`. Empty: no model serves until `load-model`. */
  modelUrl: v.string(),
  backend: backendChoice,
  /** Answers for the text generator where the backend is `auto`. */
  upstream: v.exactOptional(upstreamInit),
  /** Whether the worker serves all tabs, over channels, or only the tab that made it, over its port. */
  isShared: v.boolean(),
  /** The name of a lock that the worker holds to its end; left out without Web Locks. */
  lifeLock: v.exactOptional(name),
  past: workerPast,
  /** The folder of the bridge that has served the page, ending in `/`; left out where another server has. */
  bridgeUrl: v.exactOptional(v.string()),
});
/** The tab's first message to the worker. */
export type WorkerInit = Wire<typeof workerInit>;

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
  /** The worker runs, answers pings and holds its lock, where it has one. */
  message('alive', {}),
  message('on-rung', { rung }),
  /** The start has ended: the model serves, or is known not to. */
  message('ready', {}),
  /** Requests wait or run, until `idle`. */
  message('busy', {}),
  message('idle', {}),
  /** The first token of this worker, or the first answer of a deployment while no prompt waits or runs. */
  message('progress', {}),
  /** A step is about to begin, or has brought first tokens. Sent only after a worker ended without naming its step. */
  message('step', {
    /** Requests of the step that have no token of this worker. */
    stalledIds: v.array(requestId),
  }),
  /** The prompt of a request is about to be read, which nothing can interrupt; without a request, it has been read. */
  message('reading', { requestId: v.exactOptional(requestId) }),
  message('pong', {
    /** How long the longest step may take. */
    patienceMs: duration,
  }),
  /** The worker cannot go on, and reports nothing about its unfinished requests. */
  message('fault', {
    fault,
    /** Requests of the step that failed which have no token of this worker. */
    stalledIds: v.array(requestId),
    /** Sequences that ran, in that step or between two of their own. */
    numRunning: count,
  }),
]);
/** A message from the worker to the tab that made it. */
export type HostMessage = Wire<typeof hostMessage>;

/** The tab's door for its own worker. */
export function parseHostMessage(data: unknown): HostMessage | undefined {
  return parse(hostMessage, data);
}
