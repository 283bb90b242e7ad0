import type { OrtWasmModule } from 'onnxruntime-web/ort-wasm-simd-threaded.mjs';
import type * as Factory from './ort-factory.ts';

/** onnxruntime's own memory. */
export interface OrtMemory {
  /** A new one after the memory has grown. */
  readonly buffer: ArrayBufferLike;
  /** Address of new memory; 0 if there is none left. */
  allocate(byteLength: number): number;
  free(pointer: number): void;
}

let made: typeof Factory.made | undefined;
let memory: OrtMemory | undefined;

/**
 * Call before the first session of the CPU build.
 *
 * @param load Imports the build's factory.
 * @param wasmUrl Address of the `.wasm` file; undefined for the one that the bundler has found.
 * @returns Address of the factory that onnxruntime-web has to import for its memory to be known. Undefined where none can be
 *   imported: onnxruntime-web's own serves as well, but its memory stays unknown.
 */
export async function importFactory(
  load: () => Promise<typeof Factory>,
  wasmUrl: string | undefined,
): Promise<string | undefined> {
  try {
    const factory = await load();
    const { url } = factory;
    const atUrl: Partial<typeof Factory> = await import(/* webpackIgnore: true */ /* @vite-ignore */ url);
    if (!atUrl.default || atUrl.default !== factory.default) return undefined;
    made = factory.made;
    if (wasmUrl !== undefined) made.wasmUrl = wasmUrl;
    return url;
  } catch {
    return undefined;
  }
}

/** Undefined before the first session of the CPU build, and if the memory is unknown. */
export function ortMemory(): OrtMemory | undefined {
  return (memory ??= made?.module && memoryOf(made.module));
}

/**
 * Tensors that are GPU buffers are the only ones that onnxruntime-web doesn't copy. Its CPU build has none, so here such a
 * buffer is a place in this memory.
 */
function memoryOf(module: OrtWasmModule): OrtMemory | undefined {
  const { HEAPU8: bytes, _malloc: malloc, _free: free }: Partial<OrtWasmModule> = module;
  // Another version of onnxruntime-web may name them otherwise.
  if (!bytes || !malloc || !free) return undefined;
  module.jsepRegisterBuffer = (_session, _index, { pointer }) => pointer;
  return {
    get buffer() {
      return module.HEAPU8.buffer;
    },
    // Addresses beyond 2 GiB come as negative numbers.
    allocate: (byteLength) => malloc(byteLength) >>> 0,
    free,
  };
}
