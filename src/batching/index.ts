// The package's entry `tabserve/batching`. It runs wherever JavaScript does.
export {
  batch,
  batchStream,
  END_OF_STREAM,
  type AbortSignal,
  type BatchContext,
  type BatchControls,
  type Batched,
  type BatchedStream,
  type BatchEvent,
  type BatchOptions,
  type CallOptions,
  type CutReason,
  type EndOfStream,
  type Handler,
  type StreamHandler,
  type StreamSlot,
} from './batch/batch.ts';
export type { Clock } from './base/clock.ts';
export {
  BackPressureError,
  BatchSizeMismatchError,
  ClosedError,
  InvalidOptionError,
  ItemTooLargeError,
  RequestCancelledError,
  type BackPressureDetails,
} from './base/errors.ts';
export { fromRayConfig } from './batch/ray-config.ts';
