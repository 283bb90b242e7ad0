import { WasmForbiddenError } from '../../protocol/errors/worker.ts';

// The messages are here and not in the classes, which every page loads.

export function wasmForbidden(cause: unknown): WasmForbiddenError {
  return new WasmForbiddenError(
    "The Content-Security-Policy of the worker's script forbids WebAssembly: allow it with `script-src 'self' 'wasm-unsafe-eval'`.",
    { cause },
  );
}
