declare module 'onnxruntime-web/ort-wasm-simd-threaded.mjs' {
  export interface OrtConfig {
    readonly numThreads?: number;
    /** Address of a file of this name. By default each file lies beside the script. */
    readonly locateFile?: ((fileName: string) => string) | undefined;
  }

  /** The members that are used of the Emscripten module of onnxruntime's CPU build. The names are theirs. */
  export interface OrtWasmModule {
    /** The whole memory; another array after it has grown. */
    readonly HEAPU8: Uint8Array;
    readonly _malloc: (byteLength: number) => number;
    readonly _free: (pointer: number) => void;
    /** Gives the address of a GPU buffer's data. */
    jsepRegisterBuffer?: (session: number, index: number, buffer: { readonly pointer: number }) => number;
  }

  export default function createModule(config: OrtConfig): Promise<OrtWasmModule>;
}
