/** A build of onnxruntime-web. */
export type OrtBuild = 'jspi' | 'wasm' | 'webgpu';

/** The `.wasm` file of each build. */
export const WASM_FILES: Readonly<Record<OrtBuild, string>> = {
  jspi: 'ort-wasm-simd-threaded.jspi.wasm',
  wasm: 'ort-wasm-simd-threaded.wasm',
  webgpu: 'ort-wasm-simd-threaded.asyncify.wasm',
};

/** With JSPI (WebAssembly stack switching) a run takes half the CPU time of the asyncify build. */
export function buildFor(backend: 'webgpu' | 'wasm'): OrtBuild {
  if (backend === 'wasm') return 'wasm';
  return 'Suspending' in WebAssembly ? 'jspi' : 'webgpu';
}
