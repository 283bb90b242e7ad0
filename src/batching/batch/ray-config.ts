import type { BatchOptions } from './batch-options.ts';
import {
  requireBoolean,
  requireCount,
  requireCountOrInfinity,
  requireDuration,
  requireObject,
  unknownName,
  withCode,
} from '../base/validate.ts';

type ReadOption = (key: string, value: unknown) => BatchOptions<unknown>;

/** Reads Ray's options, in seconds, as ours, in milliseconds. `timeout_s` and `stride_s` are the tutorial's. */
const READ_OPTION: ReadonlyMap<string, ReadOption> = new Map<string, ReadOption>([
  ['max_batch_size', (key, value) => ({ maxBatchSize: requireCount(key, value) })],
  ['timeout_s', (key, value) => ({ batchWaitTimeoutMs: requireSeconds(key, value) })],
  ['batch_wait_timeout_s', (key, value) => ({ batchWaitTimeoutMs: requireSeconds(key, value) })],
  ['stride_s', (key, value) => ({ strideMs: requireSeconds(key, value) })],
  ['allow_small_batch', (key, value) => ({ allowSmallBatch: requireBoolean(key, value) })],
  ['max_concurrent_batches', (key, value) => ({ maxConcurrentBatches: requireCount(key, value) })],
  ['max_queued_requests', (key, value) => ({ maxQueuedRequests: requireQueueLimit(key, value) })],
]);

/**
 * Turns a configuration of Ray Serve into options for `batch`.
 *
 * @param config Ray's names: `max_batch_size`, `batch_wait_timeout_s`, `max_concurrent_batches` and `max_queued_requests` (-1 = no limit),
 *   and `timeout_s`, `stride_s` and `allow_small_batch` of Ray's tutorial. Times are in seconds.
 * @throws TypeError for an unknown key, for a value of the wrong type, or for both `timeout_s` and `batch_wait_timeout_s`.
 * @throws RangeError for a value out of range. Both have the code `INVALID_OPTION`.
 */
export function fromRayConfig(config: Readonly<Record<string, unknown>>): BatchOptions<unknown> {
  requireObject('config', config);
  const given = Object.entries(config).filter(([, value]) => value !== undefined);
  const keys = new Set(given.map(([key]) => key));
  if (keys.has('timeout_s') && keys.has('batch_wait_timeout_s')) {
    const message = 'Expected one of `timeout_s` and `batch_wait_timeout_s`, got both: they mean the same.';
    throw withCode(new TypeError(message));
  }
  const options = given.map(([key, value]) => readOption(key, value));
  return Object.assign({}, ...options);
}

function readOption(key: string, value: unknown): BatchOptions<unknown> {
  const read = READ_OPTION.get(key);
  if (read) return read(key, value);
  throw unknownName('key', key, [...READ_OPTION.keys()]);
}

function requireSeconds(key: string, value: unknown): number {
  return requireDuration(key, value) * 1000;
}

/** Ray's -1 means no limit. */
function requireQueueLimit(key: string, value: unknown): number {
  return value === -1 ? Infinity : requireCountOrInfinity(key, value);
}
