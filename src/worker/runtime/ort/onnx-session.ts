import type { InferenceSession } from 'onnxruntime-web/jspi';
import { NoWebGpuAdapterError } from '../../../protocol/errors/runtime.ts';
import { noWebGpuAdapter } from '../../../protocol/errors/runtime-messages.ts';
import { WasmAbortError } from '../faults/runtime-errors.ts';
import { isWasmAbort } from '../faults/fault-of.ts';
import { isSoftware } from '../software-adapter.ts';
import { completeOrt, ortInUse, ortMutex, ortOnWebGpu, requireWebGpuBuild, type OrtModule } from './ort.ts';

export type OnnxBackend = 'wasm' | 'webgpu';

export interface OnnxSession {
  readonly backend: OnnxBackend;
  readonly ort: OrtModule;
  readonly session: InferenceSession;
}

interface Way {
  readonly backend: OnnxBackend;
  readonly ort: Promise<OrtModule>;
}

/**
 * Makes a session where it can run. The build for WebGPU has fewer operators than the CPU's, and types: a model that it doesn't
 * take runs on the CPU, unless WebGPU is asked for.
 *
 * @throws NoWebGpuAdapterError, WasmAbortError, or the runtime's error.
 */
export async function createOnnxSession(
  model: Uint8Array,
  wanted: OnnxBackend | 'auto',
  options: InferenceSession.SessionOptions,
): Promise<OnnxSession> {
  let failure: unknown;
  for await (const { backend, ort: loading } of waysFor(wanted)) {
    const ort = await loading;
    const create = () => ort.InferenceSession.create(model, { ...options, executionProviders: [backend] });
    try {
      return { backend, ort, session: await ortMutex.run(create) };
    } catch (cause) {
      if (isCoded(cause)) throw cause;
      if (isWasmAbort(cause)) throw WasmAbortError.because(cause);
      failure = cause;
    }
  }
  throw failure;
}

async function* waysFor(wanted: OnnxBackend | 'auto'): AsyncGenerator<Way> {
  if (wanted === 'webgpu') await requireAdapter();
  if (wanted === 'webgpu' || (wanted === 'auto' && (await isWorthwhile())))
    yield { backend: 'webgpu', ort: ortOnWebGpu() };
  if (wanted === 'webgpu') return;
  yield { backend: 'wasm', ort: ortInUse() };
  const other = completeOrt();
  if (other) yield { backend: 'wasm', ort: other };
}

/** Whether there is a GPU: on a software adapter, the CPU's own kernels are faster. */
async function isWorthwhile(): Promise<boolean> {
  try {
    return !isSoftware((await requireAdapter()).info);
  } catch (error) {
    if (error instanceof NoWebGpuAdapterError) return false;
    throw error;
  }
}

/** Without an adapter the runtime's own message is about a missing backend. */
async function requireAdapter(): Promise<GPUAdapter> {
  requireWebGpuBuild();
  const adapter = 'gpu' in navigator ? await navigator.gpu.requestAdapter() : null;
  if (!adapter) throw noWebGpuAdapter('this browser offers no adapter');
  return adapter;
}

/** An error of our own says what to do. */
export function isCoded(cause: unknown): boolean {
  return cause instanceof Error && 'code' in cause && typeof cause.code === 'string';
}
