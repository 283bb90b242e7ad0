import type { RuntimeLimits } from '../models/checkpoint/device-fit.ts';
import { inputsOf, sectionsOf, type PackedLayout } from '../models/checkpoint/packed-weights.ts';
import { countElements } from '../models/program/model-config.ts';

/** Memory beside weights and what rows keep: activations and logits. */
const OVERHEAD = 2 ** 25;

/** Rows may keep this much: a model's memory holds its weights too. */
export const LARGEST_CACHE = 2 ** 30;

export const CPU_LIMITS: RuntimeLimits = {
  encodings: ['float32', 'q8', 'q4'],
  weightBytes: (layout) => cpuWeightBytes(layout) + OVERHEAD,
  overheadBytes: OVERHEAD,
  // Each token reads all weights. SmolLM2-135M (538 MB) is three times as fast in 8 bits, and as right: see docs/precision.md.
  largestInFloat32: 2 ** 28,
  cache: { bytes: LARGEST_CACHE, limitOf: 'that the CPU has for it' },
  memory: { bytes: 2 ** 32, limitOf: 'that kernels on the CPU address' },
};

/** Weights of 8 bits take a byte each, with a scale and a sum for each output. Others take what they are stored in. */
export function cpuWeightBytes(layout: PackedLayout): number {
  return layout.tensors.reduce((sum, tensor) => {
    const count = countElements(tensor.shape);
    if (tensor.encoding === 'q8') return sum + count + (8 * count) / inputsOf(tensor);
    const sections = sectionsOf({ tensors: [tensor] });
    return sum + sections.reduce((bytes, { length }) => bytes + length, 0);
  }, 0);
}
