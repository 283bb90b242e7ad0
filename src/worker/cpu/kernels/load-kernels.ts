import { compileKernels, instantiateKernels, type KernelVariant } from './compile-kernels.ts';
import { fastestOf } from './fastest-kernels.ts';
import type { Kernels } from './kernels.ts';

/** Bytes at the start of the memory that the kernels keep for themselves: constants, which each instance writes there again. */
export const RESERVED_BYTES = 2 ** 16;

/** Scripts that a bundler finds, so that no file is asked for by its address. */
const MODULES: Readonly<Record<KernelVariant, () => Promise<{ readonly MODULE: string }>>> = {
  'relaxed-simd': () => import('./modules/relaxed-simd.ts'),
  simd: () => import('./modules/simd.ts'),
};

export interface LoadedKernels {
  readonly variant: KernelVariant;
  readonly module: WebAssembly.Module;
  readonly kernels: Kernels;
}

/** Found once in a worker. */
let fastest: Promise<KernelVariant> | undefined;

/**
 * Loads the fastest kernels that this browser takes.
 *
 * @throws WebAssembly.CompileError where it takes none.
 */
export async function loadKernels(memory: WebAssembly.Memory, isShared: boolean): Promise<LoadedKernels> {
  const variant = await fastestVariant();
  const module = await compileKernels(await readKernels(variant), { isShared });
  return { variant, module, kernels: await instantiateKernels(module, memory) };
}

/** @throws As `loadKernels`. */
export async function fastestVariant(): Promise<KernelVariant> {
  fastest ??= findFastest();
  try {
    return await fastest;
  } catch (error) {
    fastest = undefined;
    throw error;
  }
}

async function findFastest(): Promise<KernelVariant> {
  const relaxed = await readKernels('relaxed-simd');
  if (!WebAssembly.validate(relaxed)) return 'simd';
  return fastestOf(
    new Map([
      ['relaxed-simd', relaxed],
      ['simd', await readKernels('simd')],
    ]),
  );
}

/** The bytes of a module. */
export async function readKernels(variant: KernelVariant): Promise<Uint8Array<ArrayBuffer>> {
  const { MODULE } = await MODULES[variant]();
  return Uint8Array.from(atob(MODULE), (character) => character.charCodeAt(0));
}
