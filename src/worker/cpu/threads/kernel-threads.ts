import type { Kernels } from '../kernels/kernels.ts';
import { startKernelThread, type ThreadStart } from './kernel-thread.ts';
import { SharedCall, type DividedName } from './shared-call.ts';

/** Kernels that divide their work among threads, and what ends those. */
export interface ThreadedKernels {
  readonly kernels: Kernels;
  readonly end: () => void;
}

/**
 * @param numThreads This one included.
 * @param start Starts one of the others.
 */
export async function startThreads(
  module: WebAssembly.Module,
  memory: WebAssembly.Memory,
  own: Kernels,
  numThreads: number,
  start: (thread: ThreadStart, onFailure: () => void) => Promise<void> = startKernelThread,
): Promise<ThreadedKernels> {
  const call = new SharedCall();
  const others = Array.from({ length: numThreads - 1 }, (_, i) =>
    start({ module, memory, call: call.buffer, thread: i + 1, numThreads }, () => call.fail()),
  );
  await Promise.all(others).catch((error: unknown) => {
    call.end();
    throw error;
  });
  const divided =
    (name: DividedName) =>
    (...parameters: readonly number[]): void =>
      call.make(own, name, parameters, numThreads);
  return {
    kernels: {
      ...own,
      multiplyFloat: divided('multiplyFloat'),
      multiplyInt8: divided('multiplyInt8'),
      multiplyInt4: divided('multiplyInt4'),
      attend: divided('attend'),
      deltaRule: divided('deltaRule'),
    },
    end: () => call.end(),
  };
}
