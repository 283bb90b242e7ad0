import { yieldToHost } from '../../../platform/yield-to-host.ts';
import { compileKernels, instantiateKernels, type KernelVariant } from './compile-kernels.ts';
import { KernelTrial } from './kernel-trial.ts';

/** Between them the worker serves others, and the browser has time to optimize the modules. */
const NUM_ROUNDS = 16;

/** Products of a round, so that the browser sees what is worth optimizing. */
const RUNS_OF_ROUND = 8;

interface Clock {
  /** In milliseconds. */
  now(): number;
}

/**
 * Which module is fastest here, of those whose sums are right. All have the same results. Relaxed SIMD is meant for processors with an
 * instruction for its products (AVX-VNNI, ARM's dot product). Without one, plain SIMD was up to 1.8 times as fast. Takes about 20 ms.
 *
 * @param modules By their variants, with `simd` among them.
 */
export async function fastestOf(
  modules: ReadonlyMap<KernelVariant, Uint8Array<ArrayBuffer>>,
  clock: Clock = performance,
): Promise<KernelVariant> {
  const trials: { readonly variant: KernelVariant; readonly trial: KernelTrial; bestMs: number }[] = [];
  for (const [variant, bytes] of modules) {
    const trial = await startTrial(bytes);
    if (trial.isRight()) trials.push({ variant, trial, bestMs: Infinity });
  }
  for (let round = 0; trials.length > 1 && round < NUM_ROUNDS; round++) {
    for (const entry of trials) {
      for (let run = 0; run < RUNS_OF_ROUND; run++) {
        const startMs = clock.now();
        entry.trial.run();
        entry.bestMs = Math.min(entry.bestMs, clock.now() - startMs);
      }
    }
    await yieldToHost();
  }
  return trials.toSorted((a, b) => a.bestMs - b.bestMs)[0]?.variant ?? 'simd';
}

/** In a memory of its own. */
async function startTrial(bytes: Uint8Array<ArrayBuffer>): Promise<KernelTrial> {
  const memory = new WebAssembly.Memory({ initial: KernelTrial.NUM_PAGES, maximum: KernelTrial.NUM_PAGES });
  const module = await compileKernels(bytes, { isShared: false });
  return new KernelTrial(await instantiateKernels(module, memory), memory);
}
