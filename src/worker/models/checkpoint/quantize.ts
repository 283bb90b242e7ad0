import { BLOCK_SIZE, zeroPointBytes } from './packed-weights.ts';

/** Quantized rows of a tensor, as `MatMulNBits` of onnxruntime reads them. */
export interface QuantizedRows {
  /** [rows, blocks, 32 or 16]. With 4 bits, the first of two is in the lower half of a byte. */
  readonly values: Uint8Array<ArrayBuffer>;
  /** [rows, blocks] */
  readonly scales: Float32Array<ArrayBuffer>;
  /** The integers that stand for 0, [rows, blocks]. With 4 bits, two share a byte as in `values`, and a row ends with a whole byte. */
  readonly zeroPoints: Uint8Array<ArrayBuffer>;
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

/** Quantizes each 32 weights of a row to integers, a scale and the integer that stands for 0: the closest of several grids. */
export function quantizeRows(matrix: WeightMatrix, bits: 8 | 4): QuantizedRows {
  const { numRows, length } = matrix;
  const numBlocks = length / BLOCK_SIZE;
  const blockBytes = (BLOCK_SIZE * bits) / 8;
  const rowZeroBytes = zeroPointBytes(length, bits);
  const values = new Uint8Array(numRows * numBlocks * blockBytes);
  const scales = new Float32Array(numRows * numBlocks);
  const zeroPoints = new Uint8Array(numRows * rowZeroBytes);
  const weights = new Float32Array(BLOCK_SIZE);
  const quantizer = new BlockQuantizer(bits);
  let [errorSquares, weightSquares] = [0, 0];
  for (let row = 0; row < numRows; row++) {
    for (let index = 0; index < numBlocks; index++) {
      const start = row * matrix.rowStride + index * BLOCK_SIZE * matrix.stride;
      for (let i = 0; i < BLOCK_SIZE; i++) weights[i] = matrix.values[start + i * matrix.stride] ?? 0;
      const at = row * numBlocks + index;
      const block = quantizer.quantize(weights);
      scales[at] = block.scale;
      errorSquares += block.errorSquares;
      weightSquares += block.weightSquares;
      writeCodes(block.codes, bits, values, at * blockBytes);
      writeZeroPoint(block.zeroPoint, bits, zeroPoints, row * rowZeroBytes, index);
    }
  }
  return { values, scales, zeroPoints, error: { errorSquares, weightSquares } };
}

/** A block on one grid. */
class GriddedBlock implements ErrorSum {
  readonly codes = new Uint8Array(BLOCK_SIZE);
  scale = 0;
  zeroPoint = 0;
  errorSquares = Infinity;
  weightSquares = 0;

  /**
   * @param step Chooses the integers. Then the scale that fits them best by least squares replaces it.
   * @param largest The largest integer.
   */
  fit(weights: Float32Array, step: number, zeroPoint: number, largest: number): void {
    const inverse = step === 0 ? 0 : 1 / step;
    // The integer part of what it is added to is the nearest integer.
    const offset = zeroPoint + 0.5;
    let productSum = 0;
    let integerSum = 0;
    let weightSquares = 0;
    for (let i = 0; i < BLOCK_SIZE; i++) {
      const weight = weights[i] ?? 0;
      const near = (weight * inverse + offset) | 0;
      const code = near < 0 ? 0 : near > largest ? largest : near;
      this.codes[i] = code;
      const integer = code - zeroPoint;
      productSum += weight * integer;
      integerSum += integer * integer;
      weightSquares += weight * weight;
    }
    this.zeroPoint = zeroPoint;
    this.scale = integerSum === 0 ? 0 : productSum / integerSum;
    this.weightSquares = weightSquares;
    // With the scale that fits best, what remains of the weights is at right angles to the integers.
    this.errorSquares = Math.max(0, weightSquares - this.scale * productSum);
  }
}

/** Shares of a block's range that 4 bits may cover. Values beyond are cut off, so that those within are closer. */
const RANGE_SHARES = [1, 0.93, 0.86];

/** Quantizes one block after another. */
class BlockQuantizer {
  readonly #bits: 8 | 4;
  #best = new GriddedBlock();
  #other = new GriddedBlock();

  constructor(bits: 8 | 4) {
    this.#bits = bits;
  }

  /**
   * Tries a grid around 0 whose end is the largest weight: GGUF's Q4_0 is exact there, and with 8 bits one step before the end its
   * Q8_0. With 4 bits it also tries grids over the block's range, as Q4_1 has them.
   *
   * @returns Valid until the next call.
   */
  quantize(weights: Float32Array): GriddedBlock {
    const half = 2 ** (this.#bits - 1);
    const { lowest, highest } = rangeOf(weights);
    const extreme = highest > -lowest ? highest : lowest;
    this.#best.fit(weights, extreme / -half, half, 2 * half - 1);
    if (this.#bits === 8) this.#try(weights, extreme / (half - 1), half);
    else {
      const step = (highest - lowest) / (2 * half - 1);
      for (const share of RANGE_SHARES) this.#try(weights, share * step, Math.round(-lowest / step));
    }
    return this.#best;
  }

  #try(weights: Float32Array, step: number, zeroPoint: number): void {
    if (this.#best.errorSquares === 0) return;
    this.#other.fit(weights, step, zeroPoint, 2 ** this.#bits - 1);
    if (this.#other.errorSquares < this.#best.errorSquares)
      [this.#best, this.#other] = [this.#other, this.#best];
  }
}

/** The range of a block's weights, with 0. */
function rangeOf(weights: Float32Array): { readonly lowest: number; readonly highest: number } {
  let [lowest, highest] = [0, 0];
  for (const weight of weights) {
    if (weight < lowest) lowest = weight;
    else if (weight > highest) highest = weight;
  }
  return { lowest, highest };
}

function writeCodes(codes: Uint8Array, bits: 8 | 4, target: Uint8Array, at: number): void {
  if (bits === 8) return target.set(codes, at);
  for (let i = 0; i < BLOCK_SIZE; i += 2) target[at + i / 2] = (codes[i] ?? 0) | ((codes[i + 1] ?? 0) << 4);
}

function writeZeroPoint(zeroPoint: number, bits: 8 | 4, target: Uint8Array, at: number, index: number): void {
  if (bits === 8) target[at + index] = zeroPoint;
  else target[at + (index >> 1)] = (target[at + (index >> 1)] ?? 0) | (zeroPoint << (4 * (index & 1)));
}
