// The package's entry `tabserve/worker-wasm`: an app that imports it ships one `.wasm` file.
import { WASM_BUILD } from './runtime/ort/wasm-build.ts';
import type { StartWorkerOptions } from './start-options.ts';
import { startWorkerWith } from './start-worker.ts';

export * from './worker-exports.ts';

/** Like `startWorker` of `tabserve/worker`, with the runtime for the CPU alone: it never uses WebGPU. */
export function startWorker(options?: StartWorkerOptions): void {
  startWorkerWith({ wasm: WASM_BUILD }, options);
}
