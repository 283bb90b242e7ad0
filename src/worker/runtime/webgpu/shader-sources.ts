/** The WGSL of a pipeline, and onnxruntime-web's name of it. */
export interface ShaderSource {
  readonly name: string;
  readonly code: string;
}

const sources = new WeakMap<GPUComputePipeline, ShaderSource>();

export function sourceOf(pipeline: GPUComputePipeline): ShaderSource | undefined {
  return sources.get(pipeline);
}

/** Remembers the sources of a device's pipelines. onnxruntime-web keeps those for all models of the device. */
export function watchShaders(device: GPUDevice): void {
  const modules = new WeakMap<GPUShaderModule, ShaderSource>();
  const createShaderModule = device.createShaderModule.bind(device);
  const createComputePipeline = device.createComputePipeline.bind(device);
  const createComputePipelineAsync = device.createComputePipelineAsync.bind(device);
  const remember = (pipeline: GPUComputePipeline, { compute }: GPUComputePipelineDescriptor) => {
    const source = modules.get(compute.module);
    if (source) sources.set(pipeline, source);
    return pipeline;
  };
  device.createShaderModule = (descriptor) => {
    const module = createShaderModule(descriptor);
    modules.set(module, { name: descriptor.label ?? '', code: descriptor.code });
    return module;
  };
  device.createComputePipeline = (descriptor) => remember(createComputePipeline(descriptor), descriptor);
  device.createComputePipelineAsync = async (descriptor) =>
    remember(await createComputePipelineAsync(descriptor), descriptor);
}
