import { compileKernels, instantiateKernels, type KernelVariant } from './compile-kernels.ts';
import { readKernels, RESERVED_BYTES } from './load-kernels.ts';

/** More than a cache holds, so that each sum reads its bytes from the memory, as a model's weights are read. */
const READ_BYTES = 2 ** 27;

/** One sum reads this many outputs of so many bytes each. */
const [OUTPUTS, INPUTS] = [2 ** 10, 2 ** 12];
const LENGTH = OUTPUTS * INPUTS;
const PAGE_BYTES = 2 ** 16;

/**
 * How fast one thread reads memory with these kernels, in bytes a second: the best of as many sums as fit into this time.
 *
 * @param measuredMs Time of the sums. Another 100 ms fill the memory.
 */
export async function measureMemory(variant: KernelVariant, measuredMs: number): Promise<number> {
  const start = RESERVED_BYTES + 4 * OUTPUTS;
  const numPages = Math.ceil((start + READ_BYTES) / PAGE_BYTES);
  const memory = new WebAssembly.Memory({ initial: numPages, maximum: numPages });
  // Pages that nobody has written all read one page of zeros.
  new Float32Array(memory.buffer).fill(0.01);
  const module = await compileKernels(await readKernels(variant), { isShared: false });
  const kernels = await instantiateKernels(module, memory);
  let [bestMs, next] = [Infinity, 0];
  const endMs = performance.now() + measuredMs;
  for (let startMs = performance.now(); startMs < endMs; startMs = performance.now()) {
    kernels.sumCodes(start + next, RESERVED_BYTES, OUTPUTS, INPUTS);
    bestMs = Math.min(bestMs, performance.now() - startMs);
    next = (next + LENGTH) % READ_BYTES;
  }
  return (LENGTH / bestMs) * 1000;
}
