import createModule, { type OrtConfig, type OrtWasmModule } from 'onnxruntime-web/ort-wasm-simd-threaded.mjs';

// onnxruntime-web keeps the WASM module that it makes to itself, but lets the page name the file that makes it. This one makes
// the same module, and keeps it. Threads run this file too: it imports nothing else.

/** Where this file lies. A bundler that keeps no addresses puts one here that can't be imported. */
export const url = import.meta.url;

export const made: {
  /** The last module. */
  module?: OrtWasmModule;
  /** Address of the `.wasm` file; undefined for the one that the bundler has put beside `createModule`. */
  wasmUrl?: string;
} = {};

/** @param config Options of onnxruntime-web. It takes the `.wasm` file to lie beside this file, under its original name. */
// oxlint-disable-next-line import/no-default-export -- onnxruntime-web imports it
export default async function createKeptModule(config: OrtConfig): Promise<OrtWasmModule> {
  const { wasmUrl } = made;
  made.module = await createModule({
    ...config,
    locateFile: wasmUrl === undefined ? undefined : () => wasmUrl,
  });
  return made.module;
}
