import type { RuntimeLimits } from '../../models/checkpoint/device-fit.ts';

/** A GPU's features. Sizes in bytes. */
export interface GpuFeatures {
  readonly hasShaderF16: boolean;
  readonly maxBufferSize: number;
  readonly maxStorageBufferBindingSize: number;
}

export function gpuLimits({
  hasShaderF16,
  maxBufferSize,
  maxStorageBufferBindingSize,
}: GpuFeatures): RuntimeLimits {
  return {
    encodings: hasShaderF16 ? ['float32', 'float16', 'q8', 'q4'] : ['float32', 'q8', 'q4'],
    weightBytes: ({ size }) => size,
    overheadBytes: 0,
    largestInFloat32: Infinity,
    // WebGPU does not report how much memory a GPU has: its largest buffer is the best hint.
    cache: { bytes: maxBufferSize, limitOf: 'that this GPU has for it' },
    buffer: {
      bytes: Math.min(maxBufferSize, maxStorageBufferBindingSize),
      limitOf: 'that this GPU can bind',
    },
  };
}
