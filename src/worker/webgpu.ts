// The package's entry `tabserve/worker-webgpu`: an app that imports it ships one `.wasm` file.
import { WEBGPU_BUILD } from './runtime/ort/webgpu-build.ts';
import type { StartWorkerOptions } from './start-options.ts';
import { startWorkerWith } from './start-worker.ts';

export * from './worker-exports.ts';

/**
 * Like `startWorker` of `tabserve/worker`, with onnxruntime's file for WebGPU alone. It also runs on the CPU, where there is no GPU.
 * ONNX models of deployments need JSPI: Chrome 137, Firefox 153, Safari 27 or later. In other browsers they fail with `NO_RUNTIME`.
 */
export function startWorker(options?: StartWorkerOptions): void {
  startWorkerWith({ webgpu: WEBGPU_BUILD }, options);
}
