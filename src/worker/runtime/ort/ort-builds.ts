import type * as Ort from 'onnxruntime-web/jspi';

/** A build of onnxruntime-web. A bundler ships the files of those that it finds imported. */
export interface OrtBuild {
  readonly load: () => Promise<typeof Ort>;
}

/** The builds that a worker ships. That of WebGPU has the CPU's kernels too, and needs JSPI (WebAssembly stack switching). */
export type OrtBuilds = Readonly<Partial<Record<'webgpu' | 'wasm', OrtBuild>>>;

/** The `.wasm` file of each build. */
export const WASM_FILES = {
  webgpu: 'ort-wasm-simd-threaded.jspi.wasm',
  wasm: 'ort-wasm-simd-threaded.wasm',
} as const;
