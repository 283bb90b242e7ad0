import { RuntimeLostError } from '../../../batching/generation/runtime-lost-error.ts';
import { textOf } from '../../../batching/base/errors.ts';
import type { Fault, FaultKind } from '../../../protocol/recovery.ts';
import { DeviceLostError, GpuWrongValuesError } from '../../../protocol/errors/runtime.ts';
import { AdapterGoneError, GpuError, StepHangError, WasmAbortError } from './runtime-errors.ts';

/** The fault behind an error that ends the worker. An error that is not a `RuntimeLostError` was unexpected. */
export function faultOfWorker(error: unknown): Fault {
  return error instanceof RuntimeLostError
    ? faultOf(error.cause)
    : { ...faultOf(error), kind: 'worker-error' };
}

export function faultOf(cause: unknown): Fault {
  return { kind: kindOf(cause), message: messageOf(cause) };
}

/** Without a remedy: the next worker takes it. */
function messageOf(cause: unknown): string {
  if (cause instanceof GpuWrongValuesError) return cause.reason;
  return cause instanceof Error ? cause.message : textOf(cause);
}

/**
 * Whether an error in loading a model comes from the runtime, so that another worker may succeed. Our own errors with a code
 * concern the model, the request or the choice, and would come again.
 */
export function isFault(cause: unknown): boolean {
  const isOwn = cause instanceof Error && 'code' in cause && typeof cause.code === 'string';
  return !isOwn || kindOf(cause) !== 'run-failed';
}

/** Whether memory ran out: JavaScript's heap, the WASM heap or the GPU's. Fewer rows at a time may fit. */
export function isMemoryError(cause: unknown): boolean {
  if (cause instanceof GpuError) return cause.isMemory;
  return cause instanceof Error && MEMORY_WORDS.test(cause.message);
}

/**
 * The wording of a failed allocation in Chromium, Firefox and WebKit, of the end of Emscripten's heap, and of C++'s `bad_alloc`.
 */
const MEMORY_WORDS =
  /out of memory|allocation failed|bad_alloc|\boom\b|invalid (?:typed )?array (?:buffer )?length|cannot enlarge memory/i;

function kindOf(cause: unknown): FaultKind {
  if (cause instanceof DeviceLostError) return 'device-lost';
  if (cause instanceof AdapterGoneError) return 'adapter-gone';
  if (cause instanceof StepHangError) return 'gpu-hang';
  if (cause instanceof GpuWrongValuesError) return 'wrong-values';
  if (isMemoryError(cause)) return 'out-of-memory';
  if (cause instanceof GpuError) return 'gpu-error';
  return isWasmAbort(cause) ? 'wasm-abort' : 'run-failed';
}

/** Whether the WASM runtime has aborted: nothing runs in this instance any more. */
export function isWasmAbort(cause: unknown): cause is Error {
  if (cause instanceof WebAssembly.RuntimeError || cause instanceof WasmAbortError) return true;
  return cause instanceof Error && /\bAborted\(/.test(cause.message);
}
