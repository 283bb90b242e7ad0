import type { Tensor } from 'onnxruntime-web/webgpu';
import type { OrtModule } from '../ort.ts';
import { ortMemory, type OrtMemory } from './wasm-module.ts';

/**
 * Float32 values in onnxruntime's own memory. A run reads them where they lie, while it copies a tensor of JavaScript's memory
 * first.
 */
export class HeapFloats {
  readonly #memory: OrtMemory;
  readonly #pointer: number;
  readonly #length: number;

  /**
   * Values are whatever the memory held.
   *
   * @throws RangeError if the memory is full.
   */
  constructor(length: number) {
    this.#memory = ortMemory();
    this.#pointer = this.#memory.allocate(Math.max(1, length) * Float32Array.BYTES_PER_ELEMENT);
    if (this.#pointer === 0) throw new RangeError('WASM heap allocation failed');
    this.#length = length;
  }

  /** Valid until onnxruntime allocates again: its memory may grow, which makes a new buffer. */
  get floats(): Float32Array {
    return new Float32Array(this.#memory.buffer, this.#pointer, this.#length);
  }

  /** A tensor of the first values. */
  tensor({ Tensor }: OrtModule, dims: readonly number[]): Tensor {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- see `memoryOf`
    const buffer = { pointer: this.#pointer } as unknown as Tensor.GpuBufferType;
    return Tensor.fromGpuBuffer(buffer, { dataType: 'float32', dims });
  }

  free(): void {
    this.#memory.free(this.#pointer);
  }
}
