import { BUFFER_USAGE, MAP_MODE } from './gpu-flags.ts';

/**
 * Reads words of a GPU buffer back to the CPU. Staging buffers are reused, so there are only as many as copies in flight
 * at one time.
 */
export class ReadbackRing {
  readonly #device: GPUDevice;
  readonly #free: GPUBuffer[] = [];

  constructor(device: GPUDevice) {
    this.#device = device;
  }

  /** Records the copy. Call the returned function once the encoder's commands are submitted. */
  copy(
    encoder: GPUCommandEncoder,
    source: GPUBuffer,
    numWords: number,
  ): () => Promise<Uint32Array<ArrayBuffer>> {
    const numBytes = 4 * numWords;
    const staging = this.#take(source.size);
    encoder.copyBufferToBuffer(source, 0, staging, 0, numBytes);
    return async () => {
      await staging.mapAsync(MAP_MODE.READ, 0, numBytes);
      const words = new Uint32Array(staging.getMappedRange(0, numBytes).slice());
      staging.unmap();
      this.#free.push(staging);
      return words;
    };
  }

  destroy(): void {
    for (const staging of this.#free) staging.destroy();
  }

  #take(size: number): GPUBuffer {
    const staging = this.#free.shift();
    if (staging && staging.size >= size) return staging;
    staging?.destroy();
    return this.#device.createBuffer({ size, usage: BUFFER_USAGE.MAP_READ | BUFFER_USAGE.COPY_DST });
  }
}
