// Shared by the package's entries for workers, each of which adds its own `startWorker`.
export type { BatchContext, BatchEvent, BatchOptions, CutReason } from '../batching/batch/batch.ts';
export { InvalidOptionError } from '../batching/base/errors.ts';
export { fromRayConfig } from '../batching/batch/ray-config.ts';
export {
  defineDeployment,
  type AnyDeployment,
  type Deployment,
  type DeploymentTypes,
  type TypedDeployment,
} from '../protocol/deployment.ts';
export {
  loadOnnxModel,
  type OnnxModel,
  type OnnxModelOptions,
  type OnnxSessionOptions,
} from './runtime/ort/onnx-model.ts';
export type { OnnxSource } from './runtime/ort/onnx-files.ts';
export {
  rowsOf,
  stackRows,
  type OnnxFeed,
  type OnnxTensor,
  type OnnxTensorOf,
  type OnnxTensorType,
  type OnnxValueInfo,
  type StackOptions,
} from './runtime/ort/onnx-tensor.ts';
export type { StartWorkerOptions } from './start-options.ts';
