import { yieldToHost } from '../../platform/yield-to-host.ts';
import { ModelFileCorruptError } from '../../protocol/errors/model.ts';
import { isSplitByRows } from '../model-config.ts';
import type { Checkpoint, CheckpointTensor } from './checkpoint.ts';
import { readFloats, toFloat16 } from './float-formats.ts';
import type { ModelPlan } from './model-plan.ts';
import {
  bitsOf,
  BYTES_PER_VALUE,
  type PackedLayout,
  type PackedTensor,
  type Precision,
} from './packed-weights.ts';
import { quantiseRows, type WeightMatrix } from './quantise.ts';

/** Size of the slices of whole rows in which embeddings are read. */
export const SLICE_BYTES = 2 ** 23;

/**
 * Takes a part of the packed file. The parts do not come in order and do not overlap.
 *
 * @param at Offset in bytes.
 */
type WritePart = (bytes: Uint8Array<ArrayBuffer>, at: number) => void;

/**
 * Converts a checkpoint's weights slice by slice. Between slices the worker serves others.
 *
 * @param report Called after each slice, with bytes of the packed file.
 * @throws ModelFileCorruptError where a weight is not a number.
 */
export async function convertWeights(
  checkpoint: Checkpoint,
  { layout }: ModelPlan,
  write: WritePart,
  report: (done: number, total: number) => void,
): Promise<void> {
  for (const packed of layout.tensors) {
    const source = checkpoint.tensors.get(packed.name);
    if (!source) throw ModelFileCorruptError.of('model.safetensors', `tensor ${packed.name} is missing`);
    await convertTensor(source, packed, layout.precision, write, (bytes) =>
      report(packed.offset + bytes, layout.size),
    );
  }
}

/** Converts into memory. */
export async function packInMemory(
  checkpoint: Checkpoint,
  plan: ModelPlan,
): Promise<{ readonly packed: PackedLayout; readonly weights: Uint8Array<ArrayBuffer> }> {
  const weights = new Uint8Array(plan.layout.size);
  await convertWeights(
    checkpoint,
    plan,
    (bytes, at) => weights.set(bytes, at),
    () => {},
  );
  return { packed: plan.layout, weights };
}

/** Rows of a tensor, as the checkpoint stores them. */
interface Slice {
  readonly values: Float32Array<ArrayBuffer>;
  readonly firstRow: number;
  readonly numRows: number;
}

async function convertTensor(
  source: CheckpointTensor,
  packed: PackedTensor,
  precision: Precision,
  write: WritePart,
  report: (bytes: number) => void,
): Promise<void> {
  const { offset, length, scales, shape } = packed;
  const bits = bitsOf(packed);
  const [allRows = 1] = shape;
  for await (const slice of slicesOf(source, packed)) {
    requireNumbers(slice.values, source, packed.name);
    const start = slice.firstRow * (length / allRows);
    if (scales && bits !== undefined) {
      const rows = quantiseRows(matrixOf(slice, packed), bits);
      write(rows.values, offset + start);
      write(encode(rows.scales, precision), scales.offset + slice.firstRow * (scales.length / allRows));
    } else {
      write(encode(slice.values, precision), offset + start);
    }
    report((slice.firstRow + slice.numRows) * (length / allRows));
    await yieldToHost();
  }
}

/** Embeddings are large, so they come in slices. A `conv1d` matrix has to be transposed, so it comes whole. */
async function* slicesOf(
  source: CheckpointTensor,
  { name, role, shape }: PackedTensor,
): AsyncGenerator<Slice> {
  const [allRows = 1] = shape;
  const rowBytes = (source.end - source.begin) / allRows;
  const rowsAtOnce = isSplitByRows({ role }) ? Math.max(1, Math.floor(SLICE_BYTES / rowBytes)) : allRows;
  for (let firstRow = 0; firstRow < allRows; firstRow += rowsAtOnce) {
    const numRows = Math.min(rowsAtOnce, allRows - firstRow);
    const begin = source.begin + firstRow * rowBytes;
    const bytes = await source.file.read(begin, begin + numRows * rowBytes);
    if (bytes.byteLength !== numRows * rowBytes) {
      throw ModelFileCorruptError.of(source.file.name, `it ends within tensor ${name}`);
    }
    yield { values: readFloats(bytes, source.dtype), firstRow, numRows };
  }
}

/** Weights of one output are quantised together: a row, or a column of a `conv1d` matrix. */
function matrixOf({ values, numRows }: Slice, { role, shape }: PackedTensor): WeightMatrix {
  const [, numColumns = 1] = shape;
  return isSplitByRows({ role })
    ? { values, numRows, length: numColumns, rowStride: numColumns, stride: 1 }
    : { values, numRows: numColumns, length: numRows, rowStride: 1, stride: numColumns };
}

function encode(values: Float32Array<ArrayBuffer>, precision: Precision): Uint8Array<ArrayBuffer> {
  return precision === 'float16'
    ? new Uint8Array(toFloat16(values).buffer)
    : new Uint8Array(values.buffer, values.byteOffset, values.length * BYTES_PER_VALUE.float32);
}

function requireNumbers(values: Float32Array, { file }: CheckpointTensor, name: string): void {
  // The sum is finite only if every value is.
  let sum = 0;
  for (let i = 0; i < values.length; i++) sum += values[i] ?? 0;
  if (!Number.isFinite(sum)) {
    throw ModelFileCorruptError.of(file.name, `tensor ${name} holds values that are not numbers`);
  }
}
