/** The GPU buffers that are there, onnxruntime-web's own included. */
export interface GpuCensus {
  readonly numBuffers: number;
  readonly numBytes: number;
}

/**
 * Usage of the buffers with a captured step's uniforms. Not counted: up to 16 of them live, depending on the last steps' shapes.
 */
const CAPTURED_UNIFORMS = 0x40;

/** Counts from now on, by wrapping the browser's own functions. */
export function startGpuCensus(): () => GpuCensus {
  const live = new Map<WeakRef<GPUBuffer>, number>();
  const keyOf = new WeakMap<GPUBuffer, WeakRef<GPUBuffer>>();
  // oxlint-disable-next-line typescript/unbound-method -- each is called with its own object below
  const [createBuffer, destroy] = [GPUDevice.prototype.createBuffer, GPUBuffer.prototype.destroy];
  GPUDevice.prototype.createBuffer = function counted(descriptor) {
    const buffer = createBuffer.call(this, descriptor);
    if (descriptor.usage === CAPTURED_UNIFORMS) return buffer;
    const key = new WeakRef(buffer);
    keyOf.set(buffer, key);
    live.set(key, descriptor.size);
    return buffer;
  };
  GPUBuffer.prototype.destroy = function counted() {
    const key = keyOf.get(this);
    if (key) live.delete(key);
    return destroy.call(this);
  };
  return () => ({ numBuffers: live.size, numBytes: [...live.values()].reduce((sum, size) => sum + size, 0) });
}
