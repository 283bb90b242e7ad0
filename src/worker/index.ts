// The package's entry `tabserve/worker`: for the script of an app's own worker.
export type { BatchContext, BatchEvent, BatchOptions, CutReason } from '../batching/batch.ts';
export { InvalidOptionError } from '../batching/errors.ts';
export { fromRayConfig } from '../batching/ray-config.ts';
export {
  defineDeployment,
  type AnyDeployment,
  type Deployment,
  type DeploymentTypes,
  type TypedDeployment,
} from '../protocol/deployment.ts';
export { loadOnnxModel, type OnnxModel } from './runtime/ort/onnx-model.ts';
export { startWorker, type StartWorkerOptions } from './start-worker.ts';
