// The flags' values, as the WebGPU specification fixes them. The global namespaces that hold them are missing in
// TypeScript's libraries, and in a browser without WebGPU, where this code must load all the same to fall back to WASM.

/** GPUBufferUsage */
export const BUFFER_USAGE = {
  MAP_READ: 0x0001,
  COPY_SRC: 0x0004,
  COPY_DST: 0x0008,
  STORAGE: 0x0080,
} as const;

/** GPUMapMode */
export const MAP_MODE = { READ: 0x0001 } as const;

/** What onnxruntime-web needs of a buffer that it reads, writes or binds. */
export const TENSOR_USAGE = BUFFER_USAGE.STORAGE | BUFFER_USAGE.COPY_SRC | BUFFER_USAGE.COPY_DST;
