import { countElements } from '../model-config.ts';
import { lazyBytes } from './packed-source.ts';
import { rotate } from './rotation.ts';
import {
  bitsOf,
  BLOCK_SIZE,
  inputsOf,
  Places,
  zeroPointBytes,
  type PackedLayout,
  type PackedSection,
  type PackedTensor,
} from './packed-weights.ts';

interface PackedWeights {
  readonly packed: PackedLayout;
  /** The packed file, or `lazyBytes` of it. */
  readonly weights: Uint8Array;
}

/** The largest integer of an int8 weight. */
const LARGEST = 127;

/** Rows that are converted together, so that the CPU's nearest cache holds them until they are transposed. */
const TILE_ROWS = 64;

/**
 * The layout that `asInt8` gives. A matrix that is stored in blocks becomes [in, out] in int8, with a scale per output: what
 * onnxruntime's one fast kernel of the CPU for quantized weights reads.
 */
export function int8Layout(layout: PackedLayout): PackedLayout {
  const places = new Places();
  const tensors = layout.tensors.map(({ zeroPoints: _zeroPoints, ...tensor }): PackedTensor => {
    if (!tensor.scales) return { ...tensor, ...places.take(tensor.length) };
    const count = countElements(tensor.shape);
    const values = places.take(count);
    const scales = places.take((count / inputsOf(tensor)) * Float32Array.BYTES_PER_ELEMENT);
    return { ...tensor, encoding: 'int8', ...values, scales };
  });
  return { ...layout, size: places.size, tensors };
}

/** Converts weights while onnxruntime reads them, a tensor at a time. */
export function asInt8({ packed, weights }: PackedWeights): PackedWeights {
  if (packed.tensors.every(({ scales }) => !scales)) return { packed, weights };
  const layout = int8Layout(packed);
  const fills = new Map<number, (target: Uint8Array) => void>();
  const read = ({ offset, length }: PackedSection): Uint8Array => weights.subarray(offset, offset + length);
  for (const [index, tensor] of layout.tensors.entries()) {
    const stored = packed.tensors[index] ?? tensor;
    const matrix = blockMatrixOf(stored);
    if (!matrix || !tensor.scales) {
      fills.set(tensor.offset, (target) => target.set(read(stored)));
      continue;
    }
    // Values come before scales, which are known then.
    let scales: Float32Array<ArrayBuffer> | undefined;
    fills.set(tensor.offset, (target) => {
      scales = fillInt8(matrix, read, target);
    });
    fills.set(tensor.scales.offset, (target) => {
      scales ??= fillInt8(matrix, read, new Uint8Array(tensor.length));
      target.set(new Uint8Array(scales.buffer));
    });
  }
  let scratch = new Uint8Array();
  return {
    packed: layout,
    weights: lazyBytes(layout.size, (begin, end) => {
      if (scratch.byteLength < end - begin) scratch = new Uint8Array(end - begin);
      const target = scratch.subarray(0, end - begin);
      fills.get(begin)?.(target);
      return target;
    }),
  };
}

/** A matrix that is stored in blocks. */
interface BlockMatrix {
  readonly bits: 8 | 4;
  readonly numRows: number;
  /** Values in a row. */
  readonly length: number;
  readonly values: PackedSection;
  readonly scales: PackedSection;
  readonly zeroPoints: PackedSection;
}

function blockMatrixOf(tensor: PackedTensor): BlockMatrix | undefined {
  const { scales, zeroPoints } = tensor;
  const bits = bitsOf(tensor);
  if (!bits || !scales || !zeroPoints) return undefined;
  const length = inputsOf(tensor);
  return { bits, numRows: countElements(tensor.shape) / length, length, values: tensor, scales, zeroPoints };
}

type ReadSection = (range: PackedSection) => Uint8Array;

/**
 * @param target [in, out]
 * @returns The scale of each output.
 */
function fillInt8(matrix: BlockMatrix, read: ReadSection, target: Uint8Array): Float32Array<ArrayBuffer> {
  const { numRows, length } = matrix;
  // The next read reuses the buffer of the last.
  const scales = new Float32Array(new Uint8Array(read(matrix.scales)).buffer);
  const zeroPoints = new Uint8Array(read(matrix.zeroPoints));
  const blocks = { codes: read(matrix.values), scales, zeroPoints };
  const rowScales = new Float32Array(numRows);
  const row = new Float32Array(length);
  const tile = new Int8Array(TILE_ROWS * length);
  for (let first = 0; first < numRows; first += TILE_ROWS) {
    const numInTile = Math.min(TILE_ROWS, numRows - first);
    for (let i = 0; i < numInTile; i++) {
      dequantizeRow(matrix, blocks, first + i, row);
      rotate(row);
      rowScales[first + i] = quantizeRow(row, tile, i * length);
    }
    for (let input = 0; input < length; input++)
      for (let i = 0; i < numInTile; i++) target[input * numRows + first + i] = tile[i * length + input] ?? 0;
  }
  return rowScales;
}

interface Blocks {
  readonly codes: Uint8Array;
  readonly scales: Float32Array;
  readonly zeroPoints: Uint8Array;
}

function dequantizeRow(
  { bits, length }: BlockMatrix,
  blocks: Blocks,
  row: number,
  target: Float32Array,
): void {
  const { codes, scales, zeroPoints } = blocks;
  const numBlocks = length / BLOCK_SIZE;
  const firstZeroPoint = (row * zeroPointBytes(length, bits) * 8) / bits;
  for (let block = 0; block < numBlocks; block++) {
    const scale = scales[row * numBlocks + block] ?? 0;
    const zeroPoint = integerAt(zeroPoints, firstZeroPoint + block, bits);
    const first = row * length + block * BLOCK_SIZE;
    for (let i = 0; i < BLOCK_SIZE; i++)
      target[block * BLOCK_SIZE + i] = scale * (integerAt(codes, first + i, bits) - zeroPoint);
  }
}

/** The integer at a place. With 4 bits, the first of two is in the lower half of a byte. */
function integerAt(bytes: Uint8Array, index: number, bits: 8 | 4): number {
  return bits === 8 ? (bytes[index] ?? 0) : ((bytes[index >> 1] ?? 0) >> (4 * (index & 1))) & 15;
}

/** @returns The scale. */
function quantizeRow(row: Float32Array, target: Int8Array, at: number): number {
  let largest = 0;
  for (let i = 0; i < row.length; i++) largest = Math.max(largest, Math.abs(row[i] ?? 0));
  const factor = largest === 0 ? 0 : LARGEST / largest;
  // The integer part of a positive number plus 0.5 is the nearest integer.
  for (let i = 0; i < row.length; i++)
    target[at + i] = (((row[i] ?? 0) * factor + LARGEST + 0.5) | 0) - LARGEST;
  return largest / LARGEST;
}
