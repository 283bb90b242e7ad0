import * as v from 'valibot';
import type { WorkerId } from './ids.ts';
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
  /** To all: the worker listens from now on, and tabs that do not know it say hello. */
  message('serving', {}),
  /** The answer to `hello`: the tab may send its outstanding requests now. */
  message('welcome', {
    status: workerStatus,
    /** All requests that wait or run. */
    activity: v.array(requestActivity),
    /** The last batches of all deployments, oldest first. */
    batches: v.array(batchRecord),
    /** The last steps that were told in `stats`, oldest first; left out where there were none. */
    steps: v.exactOptional(v.array(stepBatch)),
  }),
  message('status', { status: workerStatus }),
  /** One message per tab and step, whatever the number of its requests in it. */
  message('updates', { updates: v.array(requestUpdate) }),
  message('stats', { stats: serveStats }),
  message('batch', { batch: batchRecord }),
  /** Requests that changed since the last such message. */
  message('activity', { activity: v.array(requestActivity) }),
  /** The answer to a message with this `callId`. */
  message('call-answered', { callId: count, result: v.unknown() }),
  message('call-refused', { callId: count, error: wireError }),
]);
/** A message from the worker to one tab or to all. */
export type WorkerMessage = Wire<typeof workerMessage>;

/** The tab's door for what a worker sends. */
export function parseWorkerMessage(data: unknown): WorkerMessage | undefined {
  return parse(workerMessage, data);
}

const anyWorkerMessage = v.object({ version: anyVersion, workerId: id<WorkerId>(), type: name });

/** The version of a worker of another version; undefined for anything else. */
export function foreignWorkerVersion(data: unknown): number | undefined {
  const foreign = parse(anyWorkerMessage, data)?.version;
  return foreign === PROTOCOL_VERSION ? undefined : foreign;
}
