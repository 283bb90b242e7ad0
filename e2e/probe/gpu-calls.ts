/** Usage of the buffers with a captured step's uniforms. Up to 16 of them live, depending on the last steps' shapes. */
const CAPTURED_UNIFORMS = 0x40;

/** Counts the GPU calls of the whole page from now on, onnxruntime-web's own included, by wrapping the browser's functions. */
export class GpuCalls {
  numBuffersCreated = 0;
  numBindGroupsCreated = 0;
  numBytesRead = 0;
  /** Those that are there, without captured uniforms. */
  readonly #live = new Set<GPUBuffer>();
  readonly stop: () => void;

  constructor() {
    const [device, buffer] = [GPUDevice.prototype, GPUBuffer.prototype];
    // oxlint-disable-next-line typescript/unbound-method -- each is called with its own object below
    const { createBuffer, createBindGroup } = device;
    // oxlint-disable-next-line typescript/unbound-method -- each is called with its own object below
    const { mapAsync, destroy } = buffer;
    const countBuffer = (created: GPUBuffer): void => {
      this.numBuffersCreated += 1;
      if (created.usage !== CAPTURED_UNIFORMS) this.#live.add(created);
    };
    const forget = (destroyed: GPUBuffer): void => void this.#live.delete(destroyed);
    const countRead = (numBytes: number): void => void (this.numBytesRead += numBytes);
    const countGroup = (): void => void (this.numBindGroupsCreated += 1);
    device.createBuffer = function counted(descriptor) {
      const created = createBuffer.call(this, descriptor);
      countBuffer(created);
      return created;
    };
    device.createBindGroup = function counted(descriptor) {
      countGroup();
      return createBindGroup.call(this, descriptor);
    };
    buffer.mapAsync = function counted(mode, offset, size) {
      countRead(size ?? this.size);
      return mapAsync.call(this, mode, offset, size);
    };
    buffer.destroy = function counted() {
      forget(this);
      return destroy.call(this);
    };
    this.stop = () => {
      Object.assign(device, { createBuffer, createBindGroup });
      Object.assign(buffer, { mapAsync, destroy });
    };
  }

  get live() {
    const numBytes = [...this.#live].reduce((sum, { size }) => sum + size, 0);
    return { numBuffers: this.#live.size, numBytes };
  }
}
