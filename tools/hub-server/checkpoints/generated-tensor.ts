import { toFloat16 } from '../../../src/worker/models/formats/float-formats.ts';

export type TensorDtype = 'F32' | 'F16' | 'BF16' | 'U8';

/** A tensor of pseudo-random values, or a causal mask. */
export interface GeneratedTensor {
  readonly name: string;
  /** Name of the tensor that it is a copy of. */
  readonly copyOf?: string;
  /** Values follow from this and the name. */
  readonly seed?: number;
  readonly dtype: TensorDtype;
  readonly shape: readonly number[];
  /** Rows of zeros among the random ones. */
  readonly isZero?: (row: number) => boolean;
  readonly fill:
    /** Uniform. */
    | { readonly kind: 'random'; readonly center: number; readonly amplitude: number }
    /** A bell curve, as weights of trained models have. */
    | { readonly kind: 'normal'; readonly center: number; readonly deviation: number }
    /** Values that q4 and q8 store without an error: whole steps, with a largest value of ±8 in each block of 32. */
    | { readonly kind: 'steps'; readonly step: number }
    /** Of a matrix, or of the only row. */
    | { readonly kind: 'computed'; readonly valueAt: (row: number, column: number) => number }
    /** Ones on and below the diagonal of the last two dimensions. */
    | { readonly kind: 'causal' };
}

export const BYTES_PER_ELEMENT: Readonly<Record<TensorDtype, number>> = { F32: 4, F16: 2, BF16: 2, U8: 1 };

export function bell(
  dtype: TensorDtype,
  name: string,
  shape: readonly number[],
  deviation: number,
  center = 0,
): GeneratedTensor {
  return { name, dtype, shape, fill: { kind: 'normal', center, deviation } };
}

/** A matrix of a linear layer. @param scale Deviation of what it makes of normalized inputs. */
export function matrix(name: string, outputSize: number, inputSize: number, scale: number): GeneratedTensor {
  return bell('BF16', `${name}.weight`, [outputSize, inputSize], scale / Math.sqrt(inputSize));
}

/**
 * Scales at which a small random model behaves like a trained one: texts vary, far tokens matter, and the error of
 * quantized weights is not amplified from layer to layer.
 */
export const SCALES = {
  /** Deviation of the logits. Sampling at temperature 1 then picks among most of the tokens. */
  logits: 1.25,
  /** Deviation of the elements of queries and keys. Each token then attends mostly to a few others. */
  queriesAndKeys: 1.2,
  /** Deviation of a layer's addition to the residual stream, relative to the embeddings. */
  attention: 1,
  mlp: 0.5,
};

export function countElements({ shape }: Pick<GeneratedTensor, 'shape'>): number {
  return shape.reduce((product, size) => product * size, 1);
}

/** Bytes `begin` to `end` of a tensor's data, of which no other part is made. */
export function readTensor(tensor: GeneratedTensor, begin: number, end: number): Uint8Array {
  const width = BYTES_PER_ELEMENT[tensor.dtype];
  const first = Math.floor(begin / width);
  const values = valuesOf(tensor, first, Math.ceil(end / width));
  return encode(values, tensor.dtype).subarray(begin - first * width, end - first * width);
}

function valuesOf(
  { name, copyOf = name, seed: ownSeed = 0, shape, isZero, fill }: GeneratedTensor,
  first: number,
  end: number,
): Float32Array<ArrayBuffer> {
  const values = new Float32Array(end - first);
  if (fill.kind === 'causal') {
    const size = shape.at(-1) ?? 1;
    for (let i = first; i < end; i++) {
      values[i - first] = i % size <= Math.floor(i / size) % size ? 1 : 0;
    }
    return values;
  }
  const width = shape.at(-1) ?? 1;
  const seed = hashOf(copyOf) ^ mix(ownSeed);
  for (let i = first; i < end; i++) {
    const row = Math.floor(i / width);
    if (isZero?.(row)) continue;
    values[i - first] = fill.kind === 'computed' ? fill.valueAt(row, i % width) : valueAt(fill, seed, i);
  }
  return values;
}

function valueAt(
  fill: Exclude<GeneratedTensor['fill'], { kind: 'causal' | 'computed' }>,
  seed: number,
  index: number,
): number {
  const value = uniform(seed, index);
  if (fill.kind === 'random') return fill.center + fill.amplitude * value;
  if (fill.kind === 'normal') return fill.center + fill.deviation * normal(seed, index);
  return fill.step * (index % 32 === 0 ? 8 * (Math.sign(value) || 1) : Math.floor(7.5 * value + 0.5));
}

/** About normal, with deviation 1: the scaled sum of `NUM_SUMMED` uniform values. */
function normal(seed: number, index: number): number {
  let sum = 0;
  for (let i = 0; i < NUM_SUMMED; i++) sum += uniform(seed, NUM_SUMMED * index + i);
  return sum * Math.sqrt(3 / NUM_SUMMED);
}

const NUM_SUMMED = 4;

/** In [-1, 1), in steps of 2^-15; a product with a power of two is exact in float32. */
function uniform(seed: number, index: number): number {
  return (mix(seed + Math.imul(index, 0x9e3779b1)) >>> 16) / 2 ** 15 - 1;
}

/** Wellons' lowbias32. */
function mix(value: number): number {
  let mixed = value >>> 0;
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x7feb352d);
  mixed = Math.imul(mixed ^ (mixed >>> 15), 0x846ca68b);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}

/** FNV-1a. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return hash >>> 0;
}

function encode(values: Float32Array<ArrayBuffer>, dtype: TensorDtype): Uint8Array {
  if (dtype === 'F32') return new Uint8Array(values.buffer);
  if (dtype === 'U8') return Uint8Array.from(values);
  if (dtype === 'F16') return new Uint8Array(toFloat16(values).buffer);
  const bits = new Uint32Array(values.buffer);
  const halves = new Uint16Array(bits.length);
  for (let i = 0; i < halves.length; i++) halves[i] = (bits[i] ?? 0) >>> 16;
  return new Uint8Array(halves.buffer);
}
