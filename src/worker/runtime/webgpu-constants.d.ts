// TypeScript's own libraries declare WebGPU's interfaces, but not these flag namespaces.
// Values: WebGPU specification, "GPUBufferUsage" and "GPUMapMode".
declare const GPUBufferUsage: {
  readonly MAP_READ: 0x0001;
  readonly COPY_SRC: 0x0004;
  readonly COPY_DST: 0x0008;
  readonly STORAGE: 0x0080;
};

declare const GPUMapMode: { readonly READ: 0x0001 };
