// The package's entry `tabserve`. It has no effect when it is imported, on a server neither.
export {
  BackPressureError,
  BatchSizeMismatchError,
  ClosedError,
  InvalidOptionError,
  ItemTooLargeError,
  KvBudgetError,
  ModelRunError,
  RequestCancelledError,
  RequestTimeoutError,
  StopConditionError,
  UnknownOptionError,
} from '../../batching/errors.ts';
export type { AnyDeployment, DeploymentTypes } from '../deployments/deployment.ts';
export { allowOwnScripts } from '../platform/own-scripts.ts';
export * from '../protocol/errors/deployments.ts';
export * from '../protocol/errors/hub.ts';
export * from '../protocol/errors/model.ts';
export { NoWebGpuAdapterError } from '../protocol/errors/runtime.ts';
export * from '../protocol/errors/tabs.ts';
export { UpstreamError } from '../protocol/errors/upstream.ts';
export * from '../protocol/errors/worker.ts';
export type * from '../protocol/chat.ts';
export { TEXT_GENERATOR } from '../protocol/generation.ts';
export type * from '../protocol/generation.ts';
export * from '../protocol/generation-options.ts';
export type * from '../protocol/ids.ts';
export { BACKEND_CHOICES, type BackendChoice } from '../protocol/ladder.ts';
export type * from '../protocol/models.ts';
export type * from '../protocol/recovery.ts';
export { END_TYPES, type RequestActivity } from '../protocol/requests.ts';
export type * from '../protocol/stats.ts';
export { DEFAULT_POLICY } from '../protocol/status.ts';
export type * from '../protocol/status.ts';
export { ServeError } from '../protocol/wire-errors.ts';
export type { WireError } from '../protocol/wire.ts';
export { connect, Serve } from './client.ts';
export type * from './client.ts';
export type * from './deployment-response.ts';
export type * from './handles.ts';
