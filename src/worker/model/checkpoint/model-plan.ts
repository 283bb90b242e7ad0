import type { PackedTensor } from './packed-weights.ts';

/** What the caller asks for. `auto`: the best that the device has and that fits. */
export type DtypeChoice = 'auto' | Dtype;

/** What runs: weights in this precision; activations are fp16 with fp16 weights, and where the GPU can with q8 and q4. */
export type Dtype = 'fp16' | 'fp32' | 'q8' | 'q4';

/** What a plan has to know of the device, in bytes. */
export interface DeviceLimits {
  readonly kind: 'webgpu' | 'wasm';
  readonly hasShaderF16: boolean;
  /** WebGPU's limits; unused on WASM. */
  readonly maxBufferSize: number;
  readonly maxStorageBufferBindingSize: number;
  /** What the machine has, as far as the browser tells (`navigator.deviceMemory`). */
  readonly memoryBytes: number | undefined;
}

/** How a checkpoint is to run, with what it costs, before anything but its headers is read. */
export interface ModelPlan {
  readonly dtype: Dtype;
  /** Of activations and of the K/V cache. */
  readonly precision: 'float16' | 'float32';
  /** Why `auto` did not choose fp16; empty where it did, or where the caller chose. */
  readonly reason: string;
  /** What the packed file will hold, in its order; errors of quantisation are known only when it is written. */
  readonly tensors: readonly PackedTensor[];
  readonly bytes: {
    /** To be fetched: what runs of the weight files. */
    readonly download: number;
    /** The packed file. */
    readonly stored: number;
    /** Weights on the device, and the K/V cache of one full sequence. */
    readonly device: number;
    /** In JavaScript at once while converting and loading. */
    readonly peakHeap: number;
  };
}
