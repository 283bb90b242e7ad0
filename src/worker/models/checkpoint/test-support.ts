import { CPU_LIMITS } from '../../cpu/cpu-limits.ts';
import { gpuLimits, type GpuFeatures } from '../../runtime/webgpu/gpu-limits.ts';
import { countElements } from '../program/model-config.ts';
import { SLICE_BYTES } from './convert-weights.ts';
import type { DeviceLimits } from './device-fit.ts';
import type { PackedLayout } from './packed-weights.ts';

export const GIBIBYTE = 2 ** 30;
export const WASM: DeviceLimits = { ...CPU_LIMITS, memoryBytes: undefined };
export const GPU = gpuWith({});

export function gpuWith(features: Partial<GpuFeatures>): DeviceLimits {
  const limits = gpuLimits({
    hasShaderF16: true,
    maxBufferSize: 2 * GIBIBYTE,
    maxStorageBufferBindingSize: 2 * GIBIBYTE,
    ...features,
  });
  return { ...limits, memoryBytes: undefined };
}

/**
 * The same for weights in int8, which are rotated and form bell curves: the largest of some hundred values is about 3.2 deviations, and an
 * integer is off by 1 / sqrt(12) steps.
 */
const INT8_ERROR = 3.2 / (127 * Math.sqrt(12));

/**
 * RMS of the error of a quantized tensor over RMS of its values, where these are uniform, as in the generated checkpoints of
 * the tests. `quantize.test.ts` measures it.
 */
export const QUANTIZATION_ERROR = {
  q8: 0.0037,
  q4: 0.064,
  float16: 0,
  float32: 0,
} as const;

/**
 * Errors of tensors are independent, so their squares add up. Sharp attention multiplies them: by 2.2 in the generated
 * checkpoints of the tests.
 */
const ERROR_GROWTH = 3;

/**
 * Upper bound that quantization puts on RMS of the logits' error over RMS of the logits; 0 without quantization.
 *
 * @param isOnCpu Whether blocks of 8 bits are read as int8 there.
 */
export function logitsErrorBound({ tensors }: PackedLayout, isOnCpu: boolean): number {
  const errors = tensors.flatMap((tensor) => [
    QUANTIZATION_ERROR[tensor.encoding],
    isOnCpu && tensor.encoding === 'q8' ? INT8_ERROR : 0,
  ]);
  return ERROR_GROWTH * Math.hypot(...errors);
}

/** The most that conversion and loading have in JavaScript's memory at once, in bytes. */
export function peakHeapOf({ tensors }: PackedLayout): number {
  const whileConverting = tensors.map(({ role, shape, length, scales }) => {
    // Read, widened and packed.
    const slice = 4 * SLICE_BYTES;
    return role === 'conv1d' && scales ? slice + 4 * countElements(shape) + length + scales.length : slice;
  });
  const whileLoading = tensors.map(({ length }) => length);
  return Math.max(...whileConverting, ...whileLoading);
}
