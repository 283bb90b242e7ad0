import { describe, expect, it } from 'vitest';
import reference from '../../../../tools/reference/fixtures/gguf-blocks-reference.json' with { type: 'json' };
import { decodeBlocks } from '../formats/block-formats.ts';
import { quantizeRows, type QuantizedRows } from './quantize.ts';
import { QUANTIZATION_ERROR } from './test-support.ts';

const NUM_ROWS = 3;
/** In the reference of a type. */
const NUM_BLOCKS = 4;
const LENGTH = 64;

/** Anything but regular: the sines of squares. */
const WEIGHTS = Float32Array.from({ length: NUM_ROWS * LENGTH }, (_, i) => Math.sin(i * i) * (1 + i / 64));

const BY_ROWS = { values: WEIGHTS, numRows: NUM_ROWS, length: LENGTH, rowStride: LENGTH, stride: 1 };

describe.each([8, 4] as const)('quantizeRows to %d bits', (bits) => {
  it('comes back within half a step of every weight', () => {
    const rows = quantizeRows(BY_ROWS, bits);
    const errors = dequantize(rows, bits, NUM_ROWS).map((value, i) => Math.abs(value - (WEIGHTS[i] ?? 0)));
    const steps = errors.map((_, i) => Math.abs(rows.scales[Math.floor(i / 32)] ?? 0));
    // The fitted scale moves the far end of the range by some of a step.
    // Of 4 bits, the range may be cut by 14 %, which is two steps.
    const most = bits === 8 ? 1.01 : 2.5;
    expect(errors.every((error, i) => error <= most * (steps[i] ?? 0))).toBe(true);
    const [error, weight] = [Math.hypot(...errors), Math.hypot(...WEIGHTS)];
    expect(error / weight).toBeLessThan(bits === 8 ? 0.006 : 0.09);
    expect(Math.sqrt(rows.error.errorSquares) / error).toBeCloseTo(1, 4);
    expect(Math.sqrt(rows.error.weightSquares) / weight).toBeCloseTo(1, 6);
  });

  it('has the error on uniform weights that the bounds of logits assume', () => {
    const values = Float32Array.from({ length: 32 * 256 }, (_, i) => ((Math.sin(i) * 43_758.5453) % 1) * 0.1);
    const rows = quantizeRows({ values, numRows: 256, length: 32, rowStride: 32, stride: 1 }, bits);
    const errors = dequantize(rows, bits, 256).map((value, i) => value - (values[i] ?? 0));
    const error = Math.hypot(...errors) / Math.hypot(...values);
    expect(error / QUANTIZATION_ERROR[`q${bits}`]).toBeGreaterThan(0.9);
    expect(error / QUANTIZATION_ERROR[`q${bits}`]).toBeLessThan(1);
  });

  it('is exact where there are no more values than steps', () => {
    const half = 2 ** (bits - 1);
    const values = Float32Array.from(
      { length: 32 },
      (_, i) => 0.25 * Math.max(-half, (i % (2 * half)) - half),
    );
    const rows = quantizeRows({ values, numRows: 1, length: 32, rowStride: 32, stride: 1 }, bits);
    expect(dequantize(rows, bits)).toEqual([...values]);
  });

  it('takes the columns of a matrix for rows', () => {
    const transposed = WEIGHTS.map(
      (_, i) => WEIGHTS[(i % NUM_ROWS) * LENGTH + Math.floor(i / NUM_ROWS)] ?? 0,
    );
    const byColumns = { ...BY_ROWS, values: transposed, rowStride: 1, stride: NUM_ROWS };
    expect(quantizeRows(byColumns, bits)).toEqual(quantizeRows(BY_ROWS, bits));
  });

  it('leaves zeros zero', () => {
    const rows = quantizeRows({ ...BY_ROWS, values: new Float32Array(WEIGHTS.length) }, bits);
    expect(dequantize(rows, bits, NUM_ROWS).every((value) => value === 0)).toBe(true);
    expect(rows.error).toEqual({ errorSquares: 0, weightSquares: 0 });
  });
});

it.each([
  ['Q8_0', 8],
  ['Q4_0', 4],
] as const)("keeps every weight of GGUF's %s blocks", (dtype, bits) => {
  const { bytes } = reference[dtype];
  const blocks = Uint8Array.from(atob(bytes), (character) => character.charCodeAt(0));
  // A writer gives the largest weight the end of the range.
  const size = blocks.byteLength / NUM_BLOCKS;
  for (let block = 0; block < NUM_BLOCKS; block++) blocks[block * size + 2] = bits === 8 ? 127 : 0;
  const values = decodeBlocks(blocks, dtype);
  const rows = quantizeRows({ values, numRows: NUM_BLOCKS, length: 32, rowStride: 32, stride: 1 }, bits);
  expect(dequantize(rows, bits, NUM_BLOCKS).map(Math.fround)).toEqual([...values].map((value) => value + 0));
});

it("keeps every weight of GGUF's Q4_1 blocks whose minimum is a whole number of steps", () => {
  const blocks = Uint8Array.from(atob(reference.Q4_1.bytes), (character) => character.charCodeAt(0));
  const size = blocks.byteLength / NUM_BLOCKS;
  const view = new DataView(blocks.buffer);
  for (let block = 0; block < NUM_BLOCKS; block++) {
    const scale = Math.abs(view.getFloat16(block * size, true));
    view.setFloat16(block * size, scale, true);
    view.setFloat16(block * size + 2, -(2 ** block) * scale, true);
    // A writer uses both ends of the range: 0 for the first weight and 15 for the one 16 further.
    blocks[block * size + 4] = 0xf0;
  }
  const values = decodeBlocks(blocks, 'Q4_1');
  const rows = quantizeRows({ values, numRows: NUM_BLOCKS, length: 32, rowStride: 32, stride: 1 }, 4);
  expect(dequantize(rows, 4, NUM_BLOCKS).map(Math.fround)).toEqual([...values].map((value) => value + 0));
});

/** As MatMulNBits reads them. Rows of an odd number of blocks end with half a byte of zero points. */
function dequantize({ values, scales, zeroPoints }: QuantizedRows, bits: 8 | 4, numRows = 1): number[] {
  const split = (bytes: Uint8Array): number[] =>
    bits === 8 ? [...bytes] : [...bytes].flatMap((byte) => [byte & 15, byte >> 4]);
  const [codes, zeros] = [split(values), split(zeroPoints)];
  const blocksInRow = scales.length / numRows;
  const zeroOf = (block: number): number =>
    zeros[Math.floor(block / blocksInRow) * (zeros.length / numRows) + (block % blocksInRow)] ?? NaN;
  return codes.map((code, i) => {
    const block = Math.floor(i / 32);
    return (code - zeroOf(block)) * (scales[block] ?? NaN);
  });
}
