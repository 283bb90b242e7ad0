import { yieldToHost } from '../../../platform/yield-to-host.ts';
import { ModelFileCorruptError } from '../../../protocol/errors/model.ts';
import { countElements, isSplitByRows } from '../program/model-config.ts';
import type { Checkpoint, CheckpointTensor } from './checkpoint.ts';
import { readFloats, toFloat16 } from '../formats/float-formats.ts';
import type { ModelPlan } from './model-plan.ts';
import {
  bitsOf,
  BYTES_PER_VALUE,
  sectionsOf,
  type PackedLayout,
  type PackedTensor,
  type Precision,
  type QuantizationErrors,
} from './packed-weights.ts';
import { quantizeRows, type ErrorSum, type WeightMatrix } from './quantize.ts';
import { requireTied } from './tied-head.ts';
import { writeRows, type TakeRows, type WeightSource } from './weight-source.ts';

/** Size of the slices of whole rows in which weights are read and converted, in fp32. */
export const SLICE_BYTES = 2 ** 22;

/**
 * Converts a checkpoint's weights slice by slice, in the order of its files: they may still be arriving. Between slices the worker
 * serves others.
 *
 * @returns The errors of the quantized tensors.
 * @param report Called after each slice, with bytes of the packed file.
 * @throws ModelFileCorruptError where a weight is not a number.
 */
export async function convertWeights(
  checkpoint: Pick<Checkpoint, 'tensors'>,
  { layout }: Pick<ModelPlan, 'layout'>,
  take: TakeRows,
  report: (done: number, total: number) => void = () => {},
): Promise<QuantizationErrors> {
  const errors: Record<string, number> = {};
  const total = bytesOf(layout);
  let done = 0;
  const put: TakeRows = (rows) => {
    take(rows);
    for (const part of rows.parts) {
      done += part.byteLength;
      freeBuffer(part);
    }
    report(done, total);
  };
  for (const [packed, sources] of inFileOrder(layout, checkpoint)) {
    const { errorSquares, weightSquares } = await convertTensor(sources, packed, layout.precision, put);
    if (packed.scales) errors[packed.name] = Math.sqrt(errorSquares / (weightSquares || 1));
  }
  return errors;
}

/** Tensors with their sources, as the first of each lies in its file. */
function inFileOrder(
  { tensors }: PackedLayout,
  checkpoint: Pick<Checkpoint, 'tensors'>,
): readonly (readonly [PackedTensor, readonly CheckpointTensor[]])[] {
  const pairs = tensors.map((packed) => [packed, checkpoint.tensors.get(packed.name) ?? []] as const);
  const placeOf = ([, [first]]: (typeof pairs)[number]): number => first?.begin ?? 0;
  const fileOf = ([, [first]]: (typeof pairs)[number]): string => first?.file.name ?? '';
  return pairs.toSorted((a, b) => fileOf(a).localeCompare(fileOf(b)) || placeOf(a) - placeOf(b));
}

function bytesOf(layout: PackedLayout): number {
  return sectionsOf(layout).reduce((total, { length }) => total + length, 0);
}

/** Converts into memory. */
export async function packInMemory(
  checkpoint: Pick<Checkpoint, 'tensors'>,
  plan: Pick<ModelPlan, 'layout'>,
): Promise<{ readonly packed: PackedLayout; readonly weights: Uint8Array<ArrayBuffer> }> {
  const weights = new Uint8Array(plan.layout.size);
  await convertWeights(checkpoint, plan, (rows) => writeRows(rows, (bytes, at) => weights.set(bytes, at)));
  return { packed: plan.layout, weights };
}

/** A checkpoint's weights, which are converted while a runtime takes them. */
export function checkpointWeights(
  checkpoint: Pick<Checkpoint, 'tensors'>,
  plan: Pick<ModelPlan, 'layout'>,
): { readonly packed: PackedLayout; readonly weights: WeightSource } {
  let whole: Promise<Uint8Array> | undefined;
  const weights: WeightSource = {
    async stream(take) {
      await convertWeights(checkpoint, plan, take);
    },
    bytes: () => (whole ??= packInMemory(checkpoint, plan).then((packed) => packed.weights)),
  };
  return { packed: plan.layout, weights };
}

/** Rows of a packed tensor, in the order of the checkpoint. */
interface Slice {
  readonly values: Float32Array<ArrayBuffer>;
  readonly firstRow: number;
  readonly numRows: number;
}

async function convertTensor(
  sources: readonly CheckpointTensor[],
  tensor: PackedTensor,
  precision: Precision,
  put: TakeRows,
): Promise<ErrorSum> {
  const bits = bitsOf(tensor);
  let [errorSquares, weightSquares] = [0, 0];
  for await (const slice of slicesOf(sources, tensor)) {
    const { firstRow } = slice;
    if (bits === undefined) {
      put({ tensor, firstRow, numRows: slice.numRows, parts: [encode(slice.values, precision)] });
    } else {
      const matrix = matrixOf(slice, tensor);
      const { values, scales, zeroPoints, error } = quantizeRows(matrix, bits);
      errorSquares += error.errorSquares;
      weightSquares += error.weightSquares;
      const parts = [values, encode(scales, precision), zeroPoints];
      put({ tensor, firstRow, numRows: matrix.numRows, parts });
    }
    await yieldToHost();
  }
  return { errorSquares, weightSquares };
}

/** A `conv1d` matrix that is quantized comes whole: its blocks run along the columns. */
async function* slicesOf(sources: readonly CheckpointTensor[], packed: PackedTensor): AsyncGenerator<Slice> {
  const { role, scales, shape } = packed;
  if (role !== 'conv1d' || !scales) return yield* rowsOf(sources);
  const [numRows = 1, numColumns = 1] = shape;
  const values = new Float32Array(numRows * numColumns);
  for await (const rows of rowsOf(sources)) values.set(rows.values, rows.firstRow * numColumns);
  yield { values, firstRow: 0, numRows };
  freeBuffer(values);
}

/** Reads one source after another, some rows at a time, or whole where it has to be restored. */
async function* rowsOf(sources: readonly CheckpointTensor[]): AsyncGenerator<Slice> {
  let firstRow = 0;
  for (const source of sources) {
    const [allRows = 1] = source.shape;
    const rowBytes = (source.end - source.begin) / allRows;
    const floatBytes = (BYTES_PER_VALUE.float32 * countElements(source.shape)) / allRows;
    const rowsAtOnce = source.restore ? allRows : Math.max(1, Math.floor(SLICE_BYTES / floatBytes));
    for (let row = 0; row < allRows; row += rowsAtOnce) {
      const numRows = Math.min(rowsAtOnce, allRows - row);
      const values = await readValues(source, row * rowBytes, (row + numRows) * rowBytes);
      yield { values, firstRow: firstRow + row, numRows };
      freeBuffer(values);
    }
    firstRow += allRows;
  }
}

/** @param begin Offset in the tensor, in bytes. */
async function readValues(
  source: CheckpointTensor,
  begin: number,
  end: number,
): Promise<Float32Array<ArrayBuffer>> {
  const { begin: start, file, name, dtype, restore } = source;
  const bytes = await file.read(start + begin, start + end);
  if (bytes.byteLength !== end - begin)
    throw ModelFileCorruptError.of(file.name, `it ends within tensor ${name}`);
  await requireTied(source, bytes, begin);
  const values = readFloats(bytes, dtype);
  if (values.buffer !== bytes.buffer) freeBuffer(bytes);
  // The sum is finite only if every value is.
  if (!Number.isFinite(sum(values)))
    throw ModelFileCorruptError.of(file.name, `tensor ${name} holds values that are not numbers`);
  restore?.(values);
  return values;
}

function sum(values: Float32Array): number {
  let total = 0;
  for (let i = 0; i < values.length; i++) total += values[i] ?? 0;
  return total;
}

/** Weights of one output are quantized together: a row, or a column of a `conv1d` matrix. */
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

/**
 * Gives an array's memory back at once. The garbage collector would let hundreds of megabytes of such buffers pile up. The
 * array is empty afterwards.
 */
function freeBuffer({ buffer }: { readonly buffer: ArrayBuffer }): void {
  if (!buffer.detached) buffer.transfer(0);
}
