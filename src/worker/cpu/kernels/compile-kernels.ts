import type { Kernels } from './kernels.ts';

export type KernelVariant = 'relaxed-simd' | 'simd';

/**
 * Compiles one of the modules.
 *
 * @param isShared Whether the memory that it will be instantiated with is shared.
 */
export function compileKernels(
  bytes: Uint8Array<ArrayBuffer>,
  { isShared }: { readonly isShared: boolean },
): Promise<WebAssembly.Module> {
  return WebAssembly.compile(isShared ? withSharedMemory(bytes) : bytes);
}

/**
 * Ready at once where the module is compiled: each thread has an instance of its own.
 *
 * @param memory With a maximum, of 65,536 pages or less.
 */
export async function instantiateKernels(
  module: WebAssembly.Module,
  memory: WebAssembly.Memory,
): Promise<Kernels> {
  const { exports } = await WebAssembly.instantiate(module, { env: { memory } });
  requireKernels(exports);
  return exports;
}

const NAMES: Readonly<Record<keyof Kernels, true>> = {
  activate: true,
  attend: true,
  combine: true,
  deltaRule: true,
  embedFloat: true,
  embedInt4: true,
  embedInt8: true,
  multiplyFloat: true,
  multiplyInt4: true,
  multiplyInt8: true,
  normalize: true,
  pool: true,
  quantizeForInt4: true,
  quantizeForInt8: true,
  requantizeRows: true,
  rotary: true,
  rotate: true,
  scale: true,
  shortConv: true,
  storeHeads: true,
  sumCodes: true,
};

/** @throws Error where the committed modules are older than their sources. */
function requireKernels(exports: WebAssembly.Exports): asserts exports is WebAssembly.Exports & Kernels {
  const missing = Object.keys(NAMES).filter((name) => typeof exports[name] !== 'function');
  if (missing.length > 0)
    throw new Error(`The module of kernels lacks ${missing.join(', ')}. Run: npm run write -- kernels`);
}

/** The import of the memory, up to its flags: `env`, `memory`, 2 for a memory. */
const MEMORY_IMPORT = [3, ...new TextEncoder().encode('env'), 6, ...new TextEncoder().encode('memory'), 2];

/** A module's memory has a maximum in any case. Flags tell whether it is shared too. */
const SHARED_WITH_MAXIMUM = 3;

/** A module that imports a shared memory takes no other, and the other way. The code of both is the same. */
function withSharedMemory(bytes: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  const shared = bytes.slice();
  const start = shared.findIndex((_, at) => MEMORY_IMPORT.every((byte, i) => shared[at + i] === byte));
  if (start < 0) throw new Error('The module imports no memory');
  shared[start + MEMORY_IMPORT.length] = SHARED_WITH_MAXIMUM;
  return shared;
}
