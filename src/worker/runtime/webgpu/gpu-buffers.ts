import { TENSOR_USAGE } from './gpu-flags.ts';

/** onnxruntime-web rounds its copies up to this many bytes. */
const ALIGNMENT = 16;

/** Buffers that persist from pass to pass, so that in steady state a pass creates none. */
export class GpuBuffers {
  readonly #device: GPUDevice;
  readonly #onReplace: () => void;
  readonly #buffers = new Map<string, GPUBuffer>();

  /** @param onReplace Called before a buffer is replaced by a larger one. */
  constructor(device: GPUDevice, onReplace: () => void) {
    this.#device = device;
    this.#onReplace = onReplace;
  }

  /** Returns the buffer of this name, with at least `numBytes` bytes. */
  get(name: string, numBytes: number): GPUBuffer {
    const known = this.#buffers.get(name);
    if (known && known.size >= numBytes) return known;
    if (known) this.#onReplace();
    known?.destroy();
    const size = Math.ceil(numBytes / ALIGNMENT) * ALIGNMENT;
    const buffer = this.#device.createBuffer({ size, usage: TENSOR_USAGE });
    this.#buffers.set(name, buffer);
    return buffer;
  }

  destroy(): void {
    for (const buffer of this.#buffers.values()) buffer.destroy();
  }
}
