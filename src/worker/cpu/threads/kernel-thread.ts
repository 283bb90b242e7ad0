import { instantiateKernels } from '../kernels/compile-kernels.ts';
import { SharedCall } from './shared-call.ts';

/** The name of workers that are threads of kernels. They run the script of the worker that starts them. */
const THREAD_NAME = 'tabserve kernels';

/** A thread gets this once. */
export interface ThreadStart {
  readonly module: WebAssembly.Module;
  readonly memory: WebAssembly.Memory;
  readonly call: SharedArrayBuffer;
  readonly thread: number;
  readonly numThreads: number;
}

/** Whether this worker is a thread. */
export function isKernelThread(): boolean {
  return self.name === THREAD_NAME;
}

/** Makes this worker a thread: it computes its part of each call, and sees no messages any more. */
export function serveKernelThread(): void {
  self.addEventListener('message', ({ data }: MessageEvent<ThreadStart>) => {
    serveCalls(data, () => self.postMessage('ready')).then(
      () => self.close(),
      (error: unknown) => self.reportError(error),
    );
  });
}

/** Takes part in calls until they end. */
export async function serveCalls(
  { module, memory, call, thread, numThreads }: ThreadStart,
  onReady: () => void,
): Promise<void> {
  const kernels = await instantiateKernels(module, memory);
  onReady();
  new SharedCall(call).join(kernels, thread, numThreads);
}

/**
 * Resolves once the thread takes part in calls.
 *
 * @param onFailure Called when the thread ends by an error, then or later.
 */
export function startKernelThread(start: ThreadStart, onFailure: () => void): Promise<void> {
  const worker = new Worker(self.location.href, {
    type: isModule() ? 'module' : 'classic',
    name: THREAD_NAME,
  });
  return new Promise((resolve, reject) => {
    worker.addEventListener('message', () => resolve());
    worker.addEventListener('error', ({ message }) => {
      worker.terminate();
      onFailure();
      reject(new WebAssembly.RuntimeError(`A thread of kernels failed: ${message}`));
    });
    worker.postMessage(start);
  });
}

/** Only a classic script may import others by this function. */
function isModule(): boolean {
  try {
    if ('importScripts' in self && typeof self.importScripts === 'function') self.importScripts();
    return false;
  } catch {
    return true;
  }
}
