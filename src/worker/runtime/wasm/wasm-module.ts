/** What is used of the module that Emscripten makes of onnxruntime's CPU build. The names are theirs. */
interface WasmModule {
  /** The whole memory; another array after it has grown. */
  readonly HEAPU8: Uint8Array;
  readonly _malloc: (byteLength: number) => number;
  readonly _free: (pointer: number) => void;
  /** Gives the address of a GPU buffer's data. */
  jsepRegisterBuffer?: (session: number, index: number, buffer: { readonly pointer: number }) => number;
}

/** onnxruntime's own memory. */
export interface OrtMemory {
  /** Another one after the memory has grown. */
  readonly buffer: ArrayBufferLike;
  /** Address of new memory; 0 if there is none left. */
  allocate(byteLength: number): number;
  free(pointer: number): void;
}

/** The first property that Emscripten's code sets on the module that it makes. */
const FIRST_PROPERTY = 'mountExternalData';

let captured: WasmModule | undefined;
let memory: OrtMemory | undefined;

/**
 * Runs the creation of the first session, during which onnxruntime-web makes the module. It keeps the module to itself, so
 * a setter that the module inherits tells who it is.
 */
export async function capturingModule<T>(createSession: () => Promise<T>): Promise<T> {
  if (captured) return createSession();
  // oxlint-disable-next-line eslint/no-extend-native -- for as long as the module takes to be made
  Object.defineProperty(Object.prototype, FIRST_PROPERTY, {
    configurable: true,
    set(this: WasmModule, value: unknown) {
      keep(this);
      Reflect.deleteProperty(Object.prototype, FIRST_PROPERTY);
      Reflect.set(this, FIRST_PROPERTY, value);
    },
  });
  try {
    return await createSession();
  } finally {
    Reflect.deleteProperty(Object.prototype, FIRST_PROPERTY);
  }
}

/** @throws Error before the first session of the CPU build. */
export function ortMemory(): OrtMemory {
  if (!captured) throw new Error("onnxruntime-web hasn't made its WASM module yet.");
  return (memory ??= memoryOf(captured));
}

function keep(module: WasmModule): void {
  captured = module;
}

/**
 * Tensors that are GPU buffers are the only ones that onnxruntime-web doesn't copy. Its CPU build has none, so here such a
 * buffer is a place in this memory.
 */
function memoryOf(module: WasmModule): OrtMemory {
  const { _malloc: malloc, _free: free } = module;
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
