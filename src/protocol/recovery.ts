import * as v from 'valibot';
import type { RequestId } from './ids.ts';
import { rung } from './ladder.ts';
import { count, id, name, type Wire } from './wire.ts';

const kind = v.picklist([
  'device-lost',
  'adapter-gone',
  'gpu-error',
  'gpu-hang',
  'out-of-memory',
  'wrong-values',
  'wasm-abort',
  'run-failed',
  'worker-error',
  'worker-hang',
  'worker-ended',
]);

export const fault = v.object({
  /** The kind of failure. */
  kind,
  /** As the platform or the runtime words it. */
  message: v.string(),
});
/** Why a worker ended. */
export type Fault = Wire<typeof fault>;
/**
 * The cause of a worker's end.
 *
 * @useDeclaredType
 */
export type FaultKind = Fault['kind'];

export const recovery = v.object({
  /** The kind of failure. */
  kind,
  /** As the platform or the runtime words it. */
  message: v.string(),
  /** Where the worker ran; left out if it ended before it chose. */
  rung: v.exactOptional(rung),
  /** Workers in a row that ended without a token, this one included. */
  attempt: count,
  /** The next worker fails a request that ended one worker after another. */
  hasFatalRequest: v.exactOptional(v.boolean()),
});
/**
 * How the worker before this one ended. No request is lost, except one that ended several workers.
 *
 * @interface
 */
export type Recovery = Wire<typeof recovery>;

export const workerPast = v.object({
  recovery: v.exactOptional(recovery),
  /** Rungs that were given up, and why. */
  leftRungs: v.array(v.object({ rung, reason: v.string() })),
  /** Sequences, or items of a batch, that may run together at first, after more of them took too much memory. */
  maxRows: v.exactOptional(count),
  /** Requests that each ended one worker after another. The next worker fails them. */
  fatalIds: v.array(id<RequestId>()),
  /** The lock of the last worker that its tab has ended by itself, as where the page was closed. */
  left: v.exactOptional(name),
});
/** The history that a tab gives to the next worker. */
export type WorkerPast = Wire<typeof workerPast>;

/** For the first worker of a tab. */
export const NO_PAST: WorkerPast = { leftRungs: [], fatalIds: [] };
