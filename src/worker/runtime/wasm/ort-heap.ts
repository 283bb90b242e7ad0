import type { Tensor } from 'onnxruntime-web/jspi';
import { countElements } from '../../models/model-config.ts';
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
  return memory ? heapFloats(memory, length) : ownFloats(length);
}

function heapFloats(memory: OrtMemory, length: number): InputFloats {
  const pointer = memory.allocate(Math.max(1, length) * Float32Array.BYTES_PER_ELEMENT);
  if (pointer === 0) throw new RangeError('WASM heap allocation failed');
  return {
    /** Valid until onnxruntime allocates again: its memory may grow, which makes a new buffer. */
    get floats() {
      return new Float32Array(memory.buffer, pointer, length);
    },
    tensor({ Tensor }, dims) {
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- see `memoryOf`
      const buffer = { pointer } as unknown as Tensor.GpuBufferType;
      return Tensor.fromGpuBuffer(buffer, { dataType: 'float32', dims });
    },
    free: () => memory.free(pointer),
  };
}

function ownFloats(length: number): InputFloats {
  const floats = new Float32Array(length);
  return {
    floats,
    tensor: ({ Tensor }, dims) => new Tensor('float32', floats.subarray(0, countElements(dims)), dims),
    free: () => {},
  };
}
