// Values from the WebGPU specification. The globals that hold them are missing in TypeScript's libraries, and in
// browsers without WebGPU, where this code loads too and falls back to WASM.

/** GPUBufferUsage */
export const BUFFER_USAGE = {
  MAP_READ: 0x0001,
  COPY_SRC: 0x0004,
  COPY_DST: 0x0008,
  UNIFORM: 0x0040,
  STORAGE: 0x0080,
} as const;

/** GPUMapMode */
export const MAP_MODE = { READ: 0x0001 } as const;

/** Usage of a buffer that onnxruntime-web reads, writes or binds. */
export const TENSOR_USAGE = BUFFER_USAGE.STORAGE | BUFFER_USAGE.COPY_SRC | BUFFER_USAGE.COPY_DST;
