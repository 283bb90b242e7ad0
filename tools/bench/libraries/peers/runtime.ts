import { env } from '@huggingface/transformers';
import ortFactoryUrl from 'onnxruntime-web/ort-wasm-simd-threaded.asyncify.mjs?url';
import ortWasmUrl from 'onnxruntime-web/ort-wasm-simd-threaded.asyncify.wasm?url';

import type { BackendName } from '../../bench-case.ts';
import { describeCpu } from '../contender.ts';

/** Lets the library read models and its runtime from the bench's own server alone. */
export function readOwnServerOnly(): void {
  env.allowRemoteModels = false;
  env.allowLocalModels = true;
  env.localModelPath = '/models/bench/'; // a path: with a whole URL the library finds no tokenizer
  env.useBrowserCache = false;
  env.useWasmCache = false;
  // The library points these at a CDN.
  if (env.backends.onnx.wasm) env.backends.onnx.wasm.wasmPaths = { mjs: ortFactoryUrl, wasm: ortWasmUrl };
}

/** Adapter or threads. */
export async function describeDevice(backend: BackendName): Promise<string> {
  if (backend === 'wasm') return describeCpu(env.backends.onnx.wasm?.numThreads ?? 1);
  const adapter = await navigator.gpu.requestAdapter();
  return `${adapter?.info.vendor} ${adapter?.info.architecture}`;
}
