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
export { loadOnnxModel, type OnnxModel } from './runtime/ort/onnx-model.ts';
export type { OnnxSource } from './runtime/ort/onnx-files.ts';
export type { OnnxModelOptions, OnnxSessionOptions } from './runtime/ort/onnx-options.ts';
export { rowsOf, stackRows, type StackOptions } from './runtime/ort/onnx-rows.ts';
export type {
  OnnxFeed,
  OnnxTensor,
  OnnxTensorOf,
  OnnxTensorType,
  OnnxValueInfo,
} from './runtime/ort/onnx-tensor.ts';
export type { StartWorkerOptions } from './start-options.ts';
