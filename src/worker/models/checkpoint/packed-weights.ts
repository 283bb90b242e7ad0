import type { Dtype } from '../../../protocol/models.ts';
import { countElements, type ModelTensor } from '../program/model-config.ts';

/** The format of activations, of the K/V cache and of weights that are not quantized. */
export type Precision = 'float16' | 'float32';

/** One tensor in the packed file; offsets and lengths in bytes. A quantized `conv1d` is stored transposed, as [out, in]. */
export interface PackedTensor extends Omit<ModelTensor, 'sources'>, PackedSection {
  readonly encoding: Precision | 'q8' | 'q4';
  /** Scales of a quantized tensor, one per block, in the precision of activations. */
  readonly scales?: PackedSection;
  /** Integers that stand for 0, one per block, as `QuantizedRows` has them. */
  readonly zeroPoints?: PackedSection;
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

/** Bytes of the packed file that belong together: the values of a tensor, its scales or its zero points. */
export interface PackedSection {
  readonly offset: number;
  readonly length: number;
}

export function sectionsOf({ tensors }: Pick<PackedLayout, 'tensors'>): readonly PackedSection[] {
  return tensors.flatMap(({ offset, length, scales, zeroPoints }) => [
    { offset, length },
    ...(scales ? [scales] : []),
    ...(zeroPoints ? [zeroPoints] : []),
  ]);
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
  const places = new Places();
  const packed = tensors.map(({ sources: _sources, ...tensor }): PackedTensor => {
    const count = countElements(tensor.shape);
    const encoding = encodingOf(tensor, dtype);
    const bits = encoding && bitsOf({ encoding });
    if (!bits) return { ...tensor, encoding: precision, ...places.take(count * BYTES_PER_VALUE[precision]) };
    const length = inputsOf(tensor);
    const values = places.take((count * bits) / 8);
    const scales = places.take((count / BLOCK_SIZE) * BYTES_PER_VALUE[precision]);
    const zeroPoints = places.take((count / length) * zeroPointBytes(length, bits));
    return { ...tensor, encoding, ...values, scales, zeroPoints };
  });
  return { dtype, precision, size: places.size, tensors: packed };
}

/** Gives out parts of a file, one after the other. */
class Places {
  size = 0;

  take(length: number): PackedSection {
    const offset = ALIGNMENT * Math.ceil(this.size / ALIGNMENT);
    this.size = offset + length;
    return { offset, length };
  }
}

/** Bits of a value that is quantized in blocks; `undefined` for others. */
export function bitsOf({ encoding }: Pick<PackedTensor, 'encoding'>): 8 | 4 | undefined {
  if (encoding === 'q8') return 8;
  return encoding === 'q4' ? 4 : undefined;
}

/** Bytes of the zero points of a row with this many inputs. */
export function zeroPointBytes(length: number, bits: 8 | 4): number {
  return Math.ceil(((length / BLOCK_SIZE) * bits) / 8);
}

/** Inputs of a matrix: the values that make up one of its outputs. */
export function inputsOf({ role, shape }: Pick<ModelTensor, 'role' | 'shape'>): number {
  return (role === 'conv1d' ? shape[0] : shape[1]) ?? 0;
}

/**
 * Undefined for a tensor that isn't quantized. A block runs along the inputs of a matrix, so their number has to be a multiple of its
 * size.
 */
function encodingOf(tensor: ModelTensor, dtype: Dtype): 'q8' | 'q4' | undefined {
  const isQuantized = (dtype === 'q8' || dtype === 'q4') && tensor.role !== 'plain';
  if (!isQuantized || inputsOf(tensor) % BLOCK_SIZE !== 0) return undefined;
  return tensor.isSensitive ? 'q8' : dtype;
}
