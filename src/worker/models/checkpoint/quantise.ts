import { roundToFloat16 } from './float-formats.ts';
import { BLOCK_SIZE, type Precision } from './packed-weights.ts';

/** Quantised rows of a tensor, as `MatMulNBits` of onnxruntime reads them. */
export interface QuantisedRows {
  /** [rows, blocks, 32 or 16]. With 4 bits, the first of two is in the lower half of a byte. */
  readonly values: Uint8Array<ArrayBuffer>;
  /** [rows, blocks] */
  readonly scales: Float32Array<ArrayBuffer>;
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
 * Quantises each 32 weights of a row to integers and a scale. The largest weight, whatever its sign, takes the end of the
 * range that has one step more. Then the scale is fitted to the integers by least squares and rounded as it is stored.
 */
export function quantiseRows(matrix: WeightMatrix, bits: 8 | 4, precision: Precision): QuantisedRows {
  const numBlocks = matrix.length / BLOCK_SIZE;
  const blockBytes = (BLOCK_SIZE * bits) / 8;
  const values = new Uint8Array(matrix.numRows * numBlocks * blockBytes);
  const scales = new Float32Array(matrix.numRows * numBlocks);
  const block = new BlockQuantiser(2 ** (bits - 1), precision);
  for (let row = 0; row < matrix.numRows; row++) {
    for (let index = 0; index < numBlocks; index++) {
      const at = row * numBlocks + index;
      block.read(matrix, row * matrix.rowStride + index * BLOCK_SIZE * matrix.stride);
      scales[at] = block.quantise();
      block.write(values, at * blockBytes, bits);
    }
  }
  return { values, scales };
}

class BlockQuantiser {
  readonly #weights = new Float32Array(BLOCK_SIZE);
  /** In [-numLevels, numLevels). */
  readonly #integers = new Int16Array(BLOCK_SIZE);
  readonly #numLevels: number;
  readonly #round: (scale: number) => number;

  constructor(numLevels: number, precision: Precision) {
    this.#numLevels = numLevels;
    this.#round = precision === 'float16' ? roundToFloat16 : Math.fround;
  }

  read({ values, stride }: WeightMatrix, start: number): void {
    for (let i = 0; i < BLOCK_SIZE; i++) this.#weights[i] = values[start + i * stride] ?? 0;
  }

  /** @returns The scale. */
  quantise(): number {
    const first = this.#extreme() / -this.#numLevels;
    const inverse = first === 0 ? 0 : 1 / first;
    let [productSum, integerSum] = [0, 0];
    for (let i = 0; i < BLOCK_SIZE; i++) {
      const weight = this.#weights[i] ?? 0;
      const integer = Math.min(this.#numLevels - 1, Math.round(weight * inverse));
      this.#integers[i] = integer;
      productSum += weight * integer;
      integerSum += integer * integer;
    }
    return integerSum === 0 ? 0 : this.#round(productSum / integerSum);
  }

  write(target: Uint8Array, at: number, bits: 8 | 4): void {
    for (let i = 0; i < BLOCK_SIZE; i++) {
      const code = (this.#integers[i] ?? 0) + this.#numLevels;
      if (bits === 8) target[at + i] = code;
      else target[at + (i >> 1)] = (target[at + (i >> 1)] ?? 0) | (code << (4 * (i & 1)));
    }
  }

  #extreme(): number {
    let extreme = 0;
    for (let i = 0; i < BLOCK_SIZE; i++) {
      const weight = this.#weights[i] ?? 0;
      if (Math.abs(weight) > Math.abs(extreme)) extreme = weight;
    }
    return extreme;
  }
}
