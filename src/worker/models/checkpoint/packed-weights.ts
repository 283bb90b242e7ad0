import type { Dtype } from '../../protocol/models.ts';
import type { Gpt2Tensor } from '../gpt2/tensors.ts';

/** Of activations, of the K/V cache and of the weights that are not quantised. */
export type Precision = 'float16' | 'float32';

/** How one tensor lies in the packed file. */
type Encoding = Precision | 'q8' | 'q4';

/** One tensor in the packed file; offsets and lengths in bytes. */
export interface PackedTensor {
  readonly name: string;
  readonly role: Gpt2Tensor['role'];
  /** The checkpoint's. A quantised matrix lies transposed, [out, in]; all others as the shape says. */
  readonly shape: readonly number[];
  readonly encoding: Encoding;
  readonly offset: number;
  readonly length: number;
  /** Where the scales of a quantised tensor lie, one per block of 32, in the precision of activations. */
  readonly scales?: { readonly offset: number; readonly length: number };
}

/** What lies where, before it is written. */
export interface PackedLayout {
  readonly dtype: Dtype;
  readonly precision: Precision;
  /** Of the packed file. */
  readonly size: number;
  readonly tensors: readonly PackedTensor[];
  readonly numParameters: number;
}

/** What is stored beside the packed file, as JSON: with both, the model loads without its checkpoint. */
export interface PackedWeights extends PackedLayout {
  readonly formatVersion: number;
  /** RMS of the error over RMS of the values, of each quantised tensor by its name. */
  readonly quantisationErrors: Readonly<Record<string, number>>;
  /** Of RMS of the logits' error over RMS of the logits, as far as it comes from quantisation; 0 without. */
  readonly logitsErrorBound: number;
}

/** A packed file with another one is made anew. */
export const PACKED_FORMAT_VERSION = 2;

/** Weights that are multiplied together, which share a scale. */
export const BLOCK_SIZE = 32;

/** Of a tensor's place, and of what onnxruntime-web copies to a GPU at once. */
const ALIGNMENT = 64;

export const BYTES_PER_VALUE: Readonly<Record<Precision, number>> = { float16: 2, float32: 4 };

/** Lays the tensors out one after the other. */
export function layOut(tensors: readonly Gpt2Tensor[], dtype: Dtype, precision: Precision): PackedLayout {
  let size = 0;
  const place = (length: number): { offset: number; length: number } => {
    const offset = ALIGNMENT * Math.ceil(size / ALIGNMENT);
    size = offset + length;
    return { offset, length };
  };
  const packed = tensors.map(({ name, role, shape }): PackedTensor => {
    const count = countElements(shape);
    const encoding = isQuantisable(role, shape) && (dtype === 'q8' || dtype === 'q4') ? dtype : precision;
    const bits = bitsOf({ encoding });
    if (bits === undefined) {
      return { name, role, shape, encoding, ...place(count * BYTES_PER_VALUE[precision]) };
    }
    const values = place((count * bits) / 8);
    return {
      name,
      role,
      shape,
      encoding,
      ...values,
      scales: place((count / BLOCK_SIZE) * BYTES_PER_VALUE[precision]),
    };
  });
  const numParameters = tensors.reduce((sum, { shape }) => sum + countElements(shape), 0);
  return { dtype, precision, size, tensors: packed, numParameters };
}

/** Bits of a quantised weight; `undefined` where it is not quantised. */
export function bitsOf({ encoding }: Pick<PackedTensor, 'encoding'>): 8 | 4 | undefined {
  if (encoding === 'q8') return 8;
  return encoding === 'q4' ? 4 : undefined;
}

export function countElements(shape: readonly number[]): number {
  return shape.reduce((product, size) => product * size, 1);
}

/** Blocks run along the dimension that is summed over; where they do not come out even the tensor stays as it is. */
function isQuantisable(role: Gpt2Tensor['role'], shape: readonly number[]): boolean {
  const summed = role === 'matrix' ? shape[0] : shape[1];
  return role !== 'plain' && summed !== undefined && summed % BLOCK_SIZE === 0;
}
