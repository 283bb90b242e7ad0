import { textOf } from '../../batching/errors.ts';
import type { Fault, FaultKind } from '../protocol/protocol.ts';
import {
  AdapterGoneError,
  DeviceLostError,
  GpuError,
  StepHangError,
  WasmAbortError,
} from '../protocol/errors/runtime.ts';

/** What has ended the worker, from what was thrown. */
export function faultOf(cause: unknown): Fault {
  return { kind: kindOf(cause), message: messageOf(cause) };
}

/**
 * Whether what was thrown while a model was made ready speaks of what it runs on. Errors with a code of our own speak of the
 * model, the request or the choice: a fresh worker would say the same.
 */
export function isFault(cause: unknown): boolean {
  const isOwn = cause instanceof Error && 'code' in cause && typeof cause.code === 'string';
  return !isOwn || kindOf(cause) !== 'run-failed';
}

/** Whether less at a time may go through: of JavaScript's own heap, the WASM heap, or the GPU. */
export function isMemoryError(cause: unknown): boolean {
  if (cause instanceof GpuError) return cause.isMemory;
  return cause instanceof Error && MEMORY_WORDS.test(cause.message);
}

/**
 * As Chromium, Firefox and WebKit word a failed allocation, Emscripten the end of its heap, and C++ its `bad_alloc`.
 */
const MEMORY_WORDS =
  /out of memory|allocation failed|bad_alloc|\boom\b|invalid (?:typed )?array (?:buffer )?length|cannot enlarge memory/i;

function kindOf(cause: unknown): FaultKind {
  if (cause instanceof DeviceLostError) return 'device-lost';
  if (cause instanceof AdapterGoneError) return 'adapter-gone';
  if (cause instanceof StepHangError) return 'gpu-hang';
  if (isMemoryError(cause)) return 'out-of-memory';
  if (cause instanceof GpuError) return 'gpu-error';
  return isWasmAbort(cause) ? 'wasm-abort' : 'run-failed';
}

/** After one, nothing runs in this instance of the runtime any more. */
export function isWasmAbort(cause: unknown): cause is Error {
  if (cause instanceof WebAssembly.RuntimeError || cause instanceof WasmAbortError) return true;
  return cause instanceof Error && /\bAborted\(/.test(cause.message);
}

function messageOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : textOf(cause);
}
