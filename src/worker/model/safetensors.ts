import { isRecord } from '../is-record.ts';
import { ModelFileCorruptError } from './errors.ts';

const BYTES_PER_ELEMENT = { F16: 2, BF16: 2, F32: 4 } as const;

export type SafetensorsDtype = keyof typeof BYTES_PER_ELEMENT;

export interface TensorView {
  readonly dtype: SafetensorsDtype;
  readonly shape: readonly number[];
  /** Byte offsets from the start of the file, `end` exclusive; not necessarily aligned. */
  readonly begin: number;
  readonly end: number;
}

export type SafetensorsIndex = ReadonlyMap<string, TensorView>;

const HEADER_LENGTH_BYTES = 8;
/** The reference implementation's own limit; a larger length is noise read as a number. */
const LARGEST_HEADER_BYTES = 100_000_000;

/**
 * Reads the index of a safetensors file: 8 bytes of header length (little-endian), a JSON header, then the data.
 * Every tensor's dtype, shape and offsets are checked against each other and against the file's size.
 * Source: the format description of huggingface/safetensors.
 *
 * @throws ModelFileCorruptError naming what does not fit.
 */
export function readSafetensorsIndex(file: Uint8Array, fileName: string): SafetensorsIndex {
  const corrupt = (detail: string, cause?: unknown): ModelFileCorruptError =>
    ModelFileCorruptError.of(fileName, detail, cause);
  const dataStart = readDataStart(file, corrupt);
  const header = parseHeader(file.subarray(HEADER_LENGTH_BYTES, dataStart), corrupt);
  const index = new Map<string, TensorView>();
  for (const [name, entry] of Object.entries(header)) {
    if (name === '__metadata__') continue;
    index.set(name, readTensorView(name, entry, dataStart, file.byteLength, corrupt));
  }
  return index;
}

type Corrupt = (detail: string, cause?: unknown) => ModelFileCorruptError;

function readDataStart(file: Uint8Array, corrupt: Corrupt): number {
  if (file.byteLength < HEADER_LENGTH_BYTES) throw corrupt(`it holds only ${file.byteLength} bytes`);
  const headerLength = new DataView(file.buffer, file.byteOffset).getBigUint64(0, true);
  const available = file.byteLength - HEADER_LENGTH_BYTES;
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
  if (!isDtype(dtype)) throw corrupt(`tensor ${name} has dtype ${String(dtype)}, expected F16, BF16 or F32`);
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
