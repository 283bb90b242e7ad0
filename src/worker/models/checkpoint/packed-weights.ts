import type { Dtype } from '../../../protocol/models.ts';
import { countElements, type ModelTensor } from '../model-config.ts';

/** The format of activations, of the K/V cache and of weights that are not quantized. */
export type Precision = 'float16' | 'float32';

/** One tensor in the packed file; offsets and lengths in bytes. A quantized `conv1d` is stored transposed, as [out, in]. */
export interface PackedTensor extends Omit<ModelTensor, 'sources'>, PackedSection {
  readonly encoding: Precision | 'q8' | 'q4';
  /** Scales of a quantized tensor, one per block, in the precision of activations. */
  readonly scales?: PackedSection;
}

/**
 * The places of all tensors in the packed file, known before it is written. Stored as JSON beside it: with both, the model
 * loads without its checkpoint.
 */
export interface PackedLayout {
  readonly dtype: Dtype;
  readonly precision: Precision;
  /** Bytes of the packed file. */
  readonly size: number;
  readonly tensors: readonly PackedTensor[];
}

/** Bytes of the packed file that belong together: the values of a tensor, or its scales. */
export interface PackedSection {
  readonly offset: number;
  readonly length: number;
}

export function sectionsOf({ tensors }: Pick<PackedLayout, 'tensors'>): readonly PackedSection[] {
  return tensors.flatMap(({ offset, length, scales }) => [{ offset, length }, ...(scales ? [scales] : [])]);
}

/** RMS of the error over RMS of the weights, by the names of the quantized tensors. */
export type QuantizationErrors = Readonly<Record<string, number>>;

/** A stored model with another version is fetched and converted again. */
export const PACKED_FORMAT_VERSION = 5;

/** Quantized weights that share a scale. */
export const BLOCK_SIZE = 32;

/** Bytes to which each tensor is aligned. */
const ALIGNMENT = 64;

export const BYTES_PER_VALUE: Readonly<Record<Precision, number>> = { float16: 2, float32: 4 };

/** Lays the tensors out one after the other. */
export function layOut(tensors: readonly ModelTensor[], dtype: Dtype, precision: Precision): PackedLayout {
  let size = 0;
  const place = (length: number): { offset: number; length: number } => {
    const offset = ALIGNMENT * Math.ceil(size / ALIGNMENT);
    size = offset + length;
    return { offset, length };
  };
  const isQuantized = dtype === 'q8' || dtype === 'q4';
  const packed = tensors.map(({ sources: _sources, ...tensor }): PackedTensor => {
    const count = countElements(tensor.shape);
    if (!isQuantized || !isQuantizable(tensor)) {
      return { ...tensor, encoding: precision, ...place(count * BYTES_PER_VALUE[precision]) };
    }
    const bits = dtype === 'q8' ? 8 : 4;
    const values = place((count * bits) / 8);
    const scales = place((count / BLOCK_SIZE) * BYTES_PER_VALUE[precision]);
    return { ...tensor, encoding: dtype, ...values, scales };
  });
  return { dtype, precision, size, tensors: packed };
}

/** Bits of a quantized weight; `undefined` where it is not quantized. */
export function bitsOf({ encoding }: Pick<PackedTensor, 'encoding'>): 8 | 4 | undefined {
  if (encoding === 'q8') return 8;
  return encoding === 'q4' ? 4 : undefined;
}

/** A block runs along the inputs of a matrix, so their number has to be a multiple of its size. */
function isQuantizable({ role, shape }: Pick<ModelTensor, 'role' | 'shape'>): boolean {
  const numInputs = role === 'conv1d' ? shape[0] : shape[1];
  return role !== 'plain' && numInputs !== undefined && numInputs % BLOCK_SIZE === 0;
}
