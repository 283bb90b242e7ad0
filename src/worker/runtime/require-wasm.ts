import { WasmForbiddenError } from '../../protocol/errors/worker.ts';

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

// The messages are here and not in the classes, which every page loads.

function wasmForbidden(cause: unknown): WasmForbiddenError {
  return new WasmForbiddenError(
    "The Content-Security-Policy of the worker's script forbids WebAssembly: allow it with `script-src 'self' 'wasm-unsafe-eval'`.",
    { cause },
  );
}
