import { textOf } from '../../../batching/base/errors.ts';
import { isRecord } from '../../../platform/is-record.ts';
import type { BlockDtype } from './block-formats.ts';
import type { RandomAccessFile } from './checkpoint-files.ts';
import { ModelFileCorruptError } from '../../../protocol/errors/model.ts';

/** All dtypes of the format, because unused tensors may have any of them. */
const BYTES_PER_ELEMENT = {
  BOOL: 1,
  U8: 1,
  I8: 1,
  F8_E4M3: 1,
  F8_E5M2: 1,
  I16: 2,
  U16: 2,
  F16: 2,
  BF16: 2,
  I32: 4,
  U32: 4,
  F32: 4,
  I64: 8,
  U64: 8,
  F64: 8,
} as const;

export type SafetensorsDtype = keyof typeof BYTES_PER_ELEMENT;

export interface TensorView {
  readonly dtype: SafetensorsDtype | BlockDtype;
  readonly shape: readonly number[];
  /** Byte offsets from the start of the file, `end` exclusive; not necessarily aligned. */
  readonly begin: number;
  readonly end: number;
  /** Puts all values into the order and form of `shape`, in place, where the file has them otherwise. */
  readonly restore?: (values: Float32Array<ArrayBuffer>) => void;
}

const HEADER_LENGTH_BYTES = 8;
/** The limit of the reference implementation. */
const LARGEST_HEADER_BYTES = 100_000_000;

/**
 * Reads the header of a safetensors file: 8 bytes of length (little-endian), then JSON. Checks every tensor's dtype, shape
 * and offsets against each other and against the file's size. Source: the format description of huggingface/safetensors.
 *
 * @returns The tensors by name.
 * @throws ModelFileCorruptError
 */
export async function readSafetensorsIndex(file: RandomAccessFile): Promise<ReadonlyMap<string, TensorView>> {
  const corrupt = (detail: string, cause?: unknown): ModelFileCorruptError =>
    ModelFileCorruptError.of(file.name, detail, cause);
  const dataStart = await readDataStart(file, corrupt);
  const header = parseHeader(await file.read(HEADER_LENGTH_BYTES, dataStart), corrupt);
  const tensors = new Map<string, TensorView>();
  for (const [name, entry] of Object.entries(header)) {
    if (name === '__metadata__') continue;
    tensors.set(name, readTensorView(name, entry, dataStart, file.size, corrupt));
  }
  return tensors;
}

type Corrupt = (detail: string, cause?: unknown) => ModelFileCorruptError;

/** @returns The offset of the first byte behind the header. */
async function readDataStart(file: RandomAccessFile, corrupt: Corrupt): Promise<number> {
  if (file.size < HEADER_LENGTH_BYTES) throw corrupt(`it holds only ${file.size} bytes`);
  const length = await file.read(0, HEADER_LENGTH_BYTES);
  const headerLength = new DataView(length.buffer).getBigUint64(0, true);
  const available = file.size - HEADER_LENGTH_BYTES;
  if (headerLength > BigInt(Math.min(available, LARGEST_HEADER_BYTES))) {
    throw corrupt(`its header claims ${headerLength} bytes, but ${available} follow`);
  }
  return HEADER_LENGTH_BYTES + Number(headerLength);
}

function parseHeader(bytes: Uint8Array, corrupt: Corrupt): Readonly<Record<string, unknown>> {
  let header: unknown;
  try {
    header = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch (cause) {
    throw corrupt('its header is not JSON', cause);
  }
  if (!isRecord(header)) throw corrupt('its header is not a JSON object');
  return header;
}

function readTensorView(
  name: string,
  entry: unknown,
  dataStart: number,
  fileLength: number,
  corrupt: Corrupt,
): TensorView {
  if (!isRecord(entry)) throw corrupt(`the entry of tensor ${name} is not an object`);
  const { dtype, shape, data_offsets: offsets } = entry;
  if (!isDtype(dtype)) {
    throw corrupt(`tensor ${name} has dtype ${textOf(dtype)}, which the format does not know`);
  }
  if (!Array.isArray(shape) || !shape.every(isCount)) throw corrupt(`tensor ${name} has no valid shape`);
  if (!isRange(offsets)) throw corrupt(`tensor ${name} has no valid data_offsets`);
  const [begin, end] = offsets;
  const numElements = shape.reduce((product: number, size: number) => product * size, 1);
  const expectedBytes = numElements * BYTES_PER_ELEMENT[dtype];
  if (end - begin !== expectedBytes) {
    throw corrupt(
      `tensor ${name} spans ${end - begin} bytes, but ${dtype}[${shape.join(', ')}] takes ${expectedBytes}`,
    );
  }
  if (dataStart + end > fileLength) {
    throw corrupt(`tensor ${name} ends at byte ${dataStart + end}, but the file ends at ${fileLength}`);
  }
  return { dtype, shape, begin: dataStart + begin, end: dataStart + end };
}

function isDtype(value: unknown): value is SafetensorsDtype {
  return typeof value === 'string' && Object.hasOwn(BYTES_PER_ELEMENT, value);
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}

function isRange(value: unknown): value is [number, number] {
  return Array.isArray(value) && value.length === 2 && value.every(isCount);
}
