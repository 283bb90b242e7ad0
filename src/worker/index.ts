// The package's entry `tabserve/worker`: for the script of an app's own worker.
import { WASM_BUILD } from './runtime/ort/wasm-build.ts';
import { WEBGPU_BUILD } from './runtime/ort/webgpu-build.ts';
import type { StartWorkerOptions } from './start-options.ts';
import { startWorkerWith } from './start-worker.ts';

export * from './worker-exports.ts';

/**
 * Makes this dedicated worker serve the tabs of its app. Call it once, while the worker's script is evaluated. Otherwise the page's
 * first message is lost.
 */
export function startWorker(options?: StartWorkerOptions): void {
  startWorkerWith({ webgpu: WEBGPU_BUILD, wasm: WASM_BUILD }, options);
}
