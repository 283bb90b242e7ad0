import { wasmForbidden } from './wasm-errors.ts';

/** An empty WebAssembly module: magic number and version. */
const EMPTY_MODULE = Uint8Array.of(0, 0x61, 0x73, 0x6d, 1, 0, 0, 0);

/** @throws WasmForbiddenError if a policy forbids WebAssembly. */
export function requireWasm(): void {
  try {
    void new WebAssembly.Module(EMPTY_MODULE);
  } catch (cause) {
    throw wasmForbidden(cause);
  }
}
