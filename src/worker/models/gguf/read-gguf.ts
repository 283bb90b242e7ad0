import { GGMLQuantizationType, gguf, type GGUFParseOutput } from '@huggingface/gguf';

import { ModelFileCorruptError, UnsupportedModelError } from '../../../protocol/errors/model.ts';
import type { RandomAccessFile } from '../formats/checkpoint-files.ts';
import { isWeightDtype } from '../formats/float-formats.ts';
import type { TensorView } from '../formats/safetensors.ts';
import { BLOCK_FORMATS, isBlockDtype } from '../formats/block-formats.ts';
import { otherKindOfFile } from '../../../protocol/errors/model-messages.ts';

/** The header of a GGUF file. */
export interface GgufHeader {
  /** By key, such as `llama.block_count`. */
  readonly metadata: Readonly<Record<string, unknown>>;
  /** By GGUF's names, such as `blk.0.attn_q.weight`. Shapes as PyTorch has them: rows first. */
  readonly tensors: ReadonlyMap<string, TensorView>;
}

/** The first bytes, and the name of the format. */
const MAGIC = 'GGUF';

const DEFAULT_ALIGNMENT = 32;

/** Version 1 had counts of 32 bits; llama.cpp no longer reads it. */
const VERSIONS: readonly unknown[] = [2, 3];

const FLOAT_BYTES = { F32: 4, F16: 2, BF16: 2 } as const;

/**
 * Reads the header with @huggingface/gguf, and checks every tensor's place against the file's size.
 *
 * @throws ModelFileCorruptError for a file that is cut off or damaged; UnsupportedModelError for another version, or a type that
 *   is not decoded.
 */
export async function readGguf(file: RandomAccessFile): Promise<GgufHeader> {
  const header = await parse(file);
  const { littleEndian, tensorInfoByteRange, tensorInfos } = header;
  const metadata = Object.fromEntries(
    Object.entries(header.metadata).map(([key, value]) => [key, withNumbers(value)]),
  );
  const { version } = metadata;
  if (!VERSIONS.includes(version) || !littleEndian) {
    throw UnsupportedModelError.of(
      `${file.name} is of GGUF version ${String(version)}${littleEndian ? '' : ' in big-endian order'}: versions 2 and 3 in little-endian order are read`,
    );
  }
  // The library pads what it reads with zeros.
  if (tensorInfoByteRange[1] > file.size)
    throw ModelFileCorruptError.of(file.name, 'it ends within its header');
  const alignment = Number(metadata['general.alignment'] ?? DEFAULT_ALIGNMENT);
  if (alignment % 8 !== 0) throw ModelFileCorruptError.of(file.name, `its alignment is ${alignment}`);
  const dataStart = Math.ceil(tensorInfoByteRange[1] / alignment) * alignment;
  const views = tensorInfos.map((info): [string, TensorView] => [info.name, viewOf(info, dataStart, file)]);
  const tensors = new Map(views);
  if (tensors.size < views.length) throw ModelFileCorruptError.of(file.name, 'it has a tensor twice');
  return { metadata, tensors };
}

/** Counts and ids may have 64 bits, which the library reads as bigints. */
function withNumbers(value: unknown): unknown {
  if (typeof value === 'bigint') return Number(value);
  return Array.isArray(value) ? value.map(withNumbers) : value;
}

async function parse(file: RandomAccessFile): Promise<GGUFParseOutput> {
  const magic = new TextDecoder().decode(await file.read(0, Math.min(MAGIC.length, file.size)));
  if (file.size > 0 && magic !== MAGIC) throw otherKindOfFile(file.name, MAGIC);
  try {
    return await gguf('https://file.invalid/', { fetch: (_, init) => readRange(file, init) });
  } catch (cause) {
    const reason = cause instanceof RangeError ? 'it ends within its header' : String(cause);
    throw ModelFileCorruptError.of(file.name, reason.replace(/^Error: /, ''), cause);
  }
}

/** Answers the library's requests from the file. */
async function readRange(file: RandomAccessFile, init: RequestInit | undefined): Promise<Response> {
  const range = /^bytes=(\d+)-(\d+)$/.exec(new Headers(init?.headers).get('range') ?? '');
  const [begin, last] = [Number(range?.[1]), Number(range?.[2])];
  if (begin >= file.size) throw new RangeError(`Expected more than ${file.size} bytes`);
  return new Response(await file.read(begin, Math.min(last + 1, file.size)));
}

function viewOf(
  { name, shape: reversed, dtype: type, offset }: GGUFParseOutput['tensorInfos'][number],
  dataStart: number,
  file: RandomAccessFile,
): TensorView {
  const shape = reversed.map(Number).toReversed();
  const dtype = GGMLQuantizationType[type] ?? String(type);
  const numBytes = bytesOf(shape, dtype);
  if (numBytes === undefined || !isWeightDtype(dtype)) {
    const known = [...Object.keys(FLOAT_BYTES), ...Object.keys(BLOCK_FORMATS)].join(', ');
    throw UnsupportedModelError.of(
      `${file.name} has tensor ${name} [${shape.join(', ')}] of type ${dtype}: types that are read are ${known}, in rows of whole blocks`,
    );
  }
  const begin = dataStart + Number(offset);
  if (begin + numBytes <= file.size) return { dtype, shape, begin, end: begin + numBytes };
  throw ModelFileCorruptError.of(
    file.name,
    `tensor ${name} ends at byte ${begin + numBytes}, but the file ends at ${file.size}`,
  );
}

/** @returns Undefined for a type that is not read, or rows that are not whole blocks. */
function bytesOf(shape: readonly number[], dtype: string): number | undefined {
  const numValues = shape.reduce((product, size) => product * size, 1);
  if (dtype === 'F32' || dtype === 'F16' || dtype === 'BF16') return numValues * FLOAT_BYTES[dtype];
  if (!isBlockDtype(dtype)) return undefined;
  const format = BLOCK_FORMATS[dtype];
  const isWhole = (shape.at(-1) ?? 0) % format.numValues === 0;
  return isWhole ? (numValues / format.numValues) * format.numBytes : undefined;
}
