import type { Tensor } from 'onnxruntime-web/webgpu';
import type { OrtModule } from '../ort/ort.ts';
import type { KvArray } from './kv-rows.ts';
import { ortMemory, type OrtMemory } from '../ort/ort-memory.ts';

/** Float32 values that runs read. */
export interface InputFloats extends KvArray {
  /** A tensor of the first values. */
  tensor(ort: OrtModule, dims: readonly number[]): Tensor;
}

/**
 * Allocates in onnxruntime's own memory if it is known: a run reads values in place there, and copies tensors of JavaScript's
 * memory first. The values are not initialized. Call it after the first session has been made.
 *
 * @throws RangeError if the memory is full.
 */
export function allocateFloats(length: number): InputFloats {
  const memory = ortMemory();
  return memory ? new HeapFloats(memory, length) : new OwnFloats(length);
}

class HeapFloats implements InputFloats {
  readonly #memory: OrtMemory;
  readonly #pointer: number;
  readonly #length: number;

  constructor(memory: OrtMemory, length: number) {
    this.#memory = memory;
    this.#pointer = memory.allocate(Math.max(1, length) * Float32Array.BYTES_PER_ELEMENT);
    if (this.#pointer === 0) throw new RangeError('WASM heap allocation failed');
    this.#length = length;
  }

  /** Valid until onnxruntime allocates again: its memory may grow, which makes a new buffer. */
  get floats(): Float32Array {
    return new Float32Array(this.#memory.buffer, this.#pointer, this.#length);
  }

  tensor({ Tensor }: OrtModule, dims: readonly number[]): Tensor {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- see `memoryOf`
    const buffer = { pointer: this.#pointer } as unknown as Tensor.GpuBufferType;
    return Tensor.fromGpuBuffer(buffer, { dataType: 'float32', dims });
  }

  free(): void {
    this.#memory.free(this.#pointer);
  }
}

class OwnFloats implements InputFloats {
  readonly floats: Float32Array;

  constructor(length: number) {
    this.floats = new Float32Array(length);
  }

  tensor({ Tensor }: OrtModule, dims: readonly number[]): Tensor {
    const length = dims.reduce((product, size) => product * size, 1);
    return new Tensor('float32', this.floats.subarray(0, length), dims);
  }

  free(): void {}
}
