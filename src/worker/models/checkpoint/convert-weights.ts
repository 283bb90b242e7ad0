import { yieldToHost } from '../../platform/yield-to-host.ts';
import { ModelFileCorruptError } from '../../protocol/errors/model.ts';
import { isSplitByRows } from '../model-config.ts';
import type { Checkpoint, CheckpointTensor } from './checkpoint.ts';
import { readFloats, toFloat16 } from './float-formats.ts';
import { SLICE_BYTES, type ModelPlan } from './model-plan.ts';
import {
  bitsOf,
  BYTES_PER_VALUE,
  PACKED_FORMAT_VERSION,
  type PackedTensor,
  type PackedWeights,
  type Precision,
} from './packed-weights.ts';
import { quantiseRows, type WeightMatrix } from './quantise.ts';

/** Where the packed file is written: each byte at most once, and not all from the front to the back. */
export interface ByteSink {
  /** @param at Bytes from the start. */
  write(bytes: Uint8Array<ArrayBuffer>, at: number): Promise<void>;
}

/**
 * Errors of tensors are independent, so their squares add up; attention that is sharp makes more of them. The generated
 * checkpoints of the tests come to 2.2.
 */
const ERROR_GROWTH = 3;

export type ReportConverted = (done: number, total: number) => void;

/**
 * Writes a checkpoint's weights as they run, tensor by tensor, and an embedding in slices: what is in memory at once is
 * in the plan. Between slices the worker serves others.
 *
 * @param report Called after each slice, with bytes of the packed file.
 * @throws ModelFileCorruptError where a weight is not a number.
 */
export async function convertWeights(
  checkpoint: Checkpoint,
  { layout }: ModelPlan,
  sink: ByteSink,
  report: ReportConverted,
): Promise<PackedWeights> {
  const quantisationErrors: Record<string, number> = {};
  for (const packed of layout.tensors) {
    const source = checkpoint.tensors.get(packed.name);
    if (!source) throw ModelFileCorruptError.of('model.safetensors', `tensor ${packed.name} is missing`);
    const error = await convertTensor(source, packed, layout.precision, sink, (bytes) =>
      report(packed.offset + bytes, layout.size),
    );
    if (packed.scales) quantisationErrors[packed.name] = error;
  }
  return {
    ...layout,
    formatVersion: PACKED_FORMAT_VERSION,
    quantisationErrors,
    logitsErrorBound: ERROR_GROWTH * Math.hypot(...Object.values(quantisationErrors)),
  };
}

/** Converts where there is no file to write to: all of the packed file is in memory then. */
export async function packInMemory(
  checkpoint: Checkpoint,
  plan: ModelPlan,
): Promise<{ readonly packed: PackedWeights; readonly weights: Uint8Array<ArrayBuffer> }> {
  const weights = new Uint8Array(plan.layout.size);
  const sink: ByteSink = {
    write(bytes, at) {
      weights.set(bytes, at);
      return Promise.resolve();
    },
  };
  return { packed: await convertWeights(checkpoint, plan, sink, () => {}), weights };
}

/** Some rows of a tensor, as they are stored. */
interface Slice {
  readonly values: Float32Array<ArrayBuffer>;
  readonly firstRow: number;
  readonly numRows: number;
}

/** @returns RMS of the error over RMS of the values. */
async function convertTensor(
  source: CheckpointTensor,
  packed: PackedTensor,
  precision: Precision,
  sink: ByteSink,
  report: (bytes: number) => void,
): Promise<number> {
  const { offset, length, scales, shape } = packed;
  const bits = bitsOf(packed);
  const [allRows = 1] = shape;
  let [squaredError, squaredValue] = [0, 0];
  for await (const slice of slicesOf(source, packed)) {
    requireNumbers(slice.values, source, packed.name);
    const start = slice.firstRow * (length / allRows);
    if (scales && bits !== undefined) {
      const rows = quantiseRows(matrixOf(slice, packed), bits, precision);
      await sink.write(rows.values, offset + start);
      await sink.write(
        encode(rows.scales, precision),
        scales.offset + slice.firstRow * (scales.length / allRows),
      );
      squaredError += rows.squaredError;
      squaredValue += rows.squaredValue;
    } else {
      await sink.write(encode(slice.values, precision), offset + start);
    }
    report((slice.firstRow + slice.numRows) * (length / allRows));
    await yieldToHost();
  }
  return squaredValue === 0 ? 0 : Math.sqrt(squaredError / squaredValue);
}

/** An embedding by rows, since it is large; of a matrix all at once, since it may have to be transposed. */
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
    yield { values: readFloats(bytes, dtypeOf(source)), firstRow, numRows };
  }
}

function dtypeOf({ dtype }: CheckpointTensor): 'F32' | 'F16' | 'BF16' {
  return dtype === 'F16' || dtype === 'BF16' ? dtype : 'F32';
}

/** An embedding's rows are what is multiplied with; of a `Conv1D` matrix, [in, out], it is the columns. */
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
  // One that is not a number makes the sum so, too.
  let sum = 0;
  for (let i = 0; i < values.length; i++) sum += values[i] ?? 0;
  if (!Number.isFinite(sum)) {
    throw ModelFileCorruptError.of(file.name, `tensor ${name} holds values that are not numbers`);
  }
}
