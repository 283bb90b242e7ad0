// The package's entry `tabserve/batching`. It runs wherever JavaScript does.
export { batch, batchStream, END_OF_STREAM } from './batch.ts';
export type * from './batch.ts';
export type { Clock } from './clock.ts';
export {
  BackPressureError,
  BatchSizeMismatchError,
  ClosedError,
  InvalidOptionError,
  ItemTooLargeError,
  RequestCancelledError,
  type BackPressureDetails,
} from './errors.ts';
export { fromRayConfig } from './ray-config.ts';
