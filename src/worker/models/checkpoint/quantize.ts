import { BLOCK_SIZE } from './packed-weights.ts';

/** Quantized rows of a tensor, as `MatMulNBits` of onnxruntime reads them. */
export interface QuantizedRows {
  /** [rows, blocks, 32 or 16]. With 4 bits, the first of two is in the lower half of a byte. */
  readonly values: Uint8Array<ArrayBuffer>;
  /** [rows, blocks] */
  readonly scales: Float32Array<ArrayBuffer>;
  readonly error: ErrorSum;
}

/** The error of quantization, as sums over weights. */
export interface ErrorSum {
  /** Sum of the squared differences, with scales before their rounding to fp16. */
  readonly errorSquares: number;
  /** Sum of the squared weights. */
  readonly weightSquares: number;
}

/** A view of a matrix. Weight k of row r is at `r * rowStride + k * stride`. */
export interface WeightMatrix {
  readonly values: Float32Array;
  readonly numRows: number;
  readonly length: number;
  readonly rowStride: number;
  readonly stride: number;
}

/**
 * Quantizes each 32 weights of a row to integers and a scale. The largest weight, whatever its sign, takes the end of the
 * range that has one step more, or with 8 bits the other end if that is closer. Then the scale is fitted to the integers by least squares.
 */
export function quantizeRows(matrix: WeightMatrix, bits: 8 | 4): QuantizedRows {
  const numBlocks = matrix.length / BLOCK_SIZE;
  const blockBytes = (BLOCK_SIZE * bits) / 8;
  const values = new Uint8Array(matrix.numRows * numBlocks * blockBytes);
  const scales = new Float32Array(matrix.numRows * numBlocks);
  const weights = new Float32Array(BLOCK_SIZE);
  const codes = new Uint8Array(BLOCK_SIZE);
  let [errorSquares, weightSquares] = [0, 0];
  for (let row = 0; row < matrix.numRows; row++) {
    for (let index = 0; index < numBlocks; index++) {
      const start = row * matrix.rowStride + index * BLOCK_SIZE * matrix.stride;
      for (let i = 0; i < BLOCK_SIZE; i++) weights[i] = matrix.values[start + i * matrix.stride] ?? 0;
      const at = row * numBlocks + index;
      const block = quantizeBlock(weights, codes, 2 ** (bits - 1));
      scales[at] = block.scale;
      errorSquares += block.errorSquares;
      weightSquares += block.weightSquares;
      writeCodes(codes, bits, values, at * blockBytes);
    }
  }
  return { values, scales, error: { errorSquares, weightSquares } };
}

/**
 * Fills `codes` with integers from 0 to 2 * numLevels - 1, where numLevels stands for zero. A block of GGUF's Q8_0 has its largest weight
 * at 127, one step before the end: there that grid is exact.
 */
function quantizeBlock(
  weights: Float32Array,
  codes: Uint8Array,
  numLevels: number,
): ErrorSum & { readonly scale: number } {
  const extreme = extremeOf(weights);
  const byEnd = quantizeBy(extreme / -numLevels, weights, codes, numLevels);
  if (numLevels !== 128 || byEnd.errorSquares === 0) return byEnd;
  const before = quantizeBy(extreme / (numLevels - 1), weights, codes, numLevels);
  return before.errorSquares <= byEnd.errorSquares
    ? before
    : quantizeBy(extreme / -numLevels, weights, codes, numLevels);
}

/** @param first The scale that chooses the integers. Then the one that fits them best by least squares replaces it. */
function quantizeBy(
  first: number,
  weights: Float32Array,
  codes: Uint8Array,
  numLevels: number,
): ErrorSum & { readonly scale: number } {
  const inverse = first === 0 ? 0 : 1 / first;
  let [productSum, integerSum, weightSquares] = [0, 0, 0];
  for (let i = 0; i < BLOCK_SIZE; i++) {
    const weight = weights[i] ?? 0;
    const integer = Math.min(numLevels - 1, Math.round(weight * inverse));
    codes[i] = integer + numLevels;
    productSum += weight * integer;
    integerSum += integer * integer;
    weightSquares += weight * weight;
  }
  const scale = integerSum === 0 ? 0 : productSum / integerSum;
  // With the scale that fits best, what remains of the weights is at right angles to the integers.
  return { scale, weightSquares, errorSquares: Math.max(0, weightSquares - scale * productSum) };
}

function extremeOf(weights: Float32Array): number {
  let extreme = 0;
  for (const weight of weights) if (Math.abs(weight) > Math.abs(extreme)) extreme = weight;
  return extreme;
}

function writeCodes(codes: Uint8Array, bits: 8 | 4, target: Uint8Array, at: number): void {
  if (bits === 8) return target.set(codes, at);
  for (let i = 0; i < BLOCK_SIZE; i += 2) target[at + i / 2] = (codes[i] ?? 0) | ((codes[i + 1] ?? 0) << 4);
}
