import * as v from 'valibot';
import type { WorkerId } from './ids.ts';
import { jobInfo } from './jobs.ts';
import { requestActivity, requestUpdate } from './requests.ts';
import { batchRecord, serveStats, stepBatch } from './stats.ts';
import { workerStatus } from './status.ts';
import {
  anyVersion,
  count,
  id,
  name,
  parse,
  PROTOCOL_VERSION,
  version,
  wireError,
  type Wire,
} from './wire.ts';

// @__NO_SIDE_EFFECTS__
function message<Type extends string, Entries extends v.ObjectEntries>(type: Type, entries: Entries) {
  return v.object({ version, workerId: id<WorkerId>(), type: v.literal(type), ...entries });
}

const workerMessage = v.variant('type', [
  /** Sent to all tabs: the worker listens from now on. Tabs that do not know it answer with `hello`. */
  message('serving', {}),
  /** The answer to `hello`: the tab may send its outstanding requests now. */
  message('welcome', {
    status: workerStatus,
    /** All waiting and running requests. */
    activity: v.array(requestActivity),
    /** The last batches of all deployments, oldest first. */
    batches: v.array(batchRecord),
    /** The last steps that `stats` messages have reported, oldest first. Left out if there are none. */
    steps: v.exactOptional(v.array(stepBatch)),
  }),
  message('status', { status: workerStatus }),
  /** One message per tab and step for all of the tab's requests. */
  message('updates', { updates: v.array(requestUpdate) }),
  message('stats', { stats: serveStats }),
  message('batch', { batch: batchRecord }),
  /** Requests that changed since the last message of this type. */
  message('activity', { activity: v.array(requestActivity) }),
  /** Jobs that changed since the last message of this type, at most every 250 ms. */
  message('jobs', { jobs: v.array(jobInfo), deletedIds: v.array(name) }),
  /** The answer to a message with this `callId`. */
  message('call-answered', { callId: count, result: v.unknown() }),
  message('call-refused', { callId: count, error: wireError }),
]);
/** A message from the worker to one tab or to all. */
export type WorkerMessage = Wire<typeof workerMessage>;

/** Checks a message from a worker. */
export function parseWorkerMessage(data: unknown): WorkerMessage | undefined {
  return parse(workerMessage, data);
}

const anyWorkerMessage = v.object({ version: anyVersion, workerId: id<WorkerId>(), type: name });

/** The sender's version, if it is a worker of another version. */
export function foreignWorkerVersion(data: unknown): number | undefined {
  const foreign = parse(anyWorkerMessage, data)?.version;
  return foreign === PROTOCOL_VERSION ? undefined : foreign;
}
