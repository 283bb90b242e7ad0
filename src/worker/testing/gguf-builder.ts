import { toFloat16 } from '../models/formats/float-formats.ts';

/** How values are stored, with ggml's number for it. */
const TYPE_OF_TENSOR = { F32: 0, F16: 1, Q4_0: 2, Q8_0: 8 } as const;

export type GgufType = keyof typeof TYPE_OF_TENSOR;

/** One tensor of a GGUF file. */
export interface GgufTensor {
  readonly name: string;
  /** Rows first, as PyTorch has it; the file has it reversed. */
  readonly shape: readonly number[];
  readonly values: Float32Array<ArrayBuffer>;
  /** F32 by default. */
  readonly type?: GgufType;
}

export type MetadataValue = number | bigint | boolean | string | readonly (string | number | boolean)[];

/** The parts of a header that tests damage. */
interface Damage {
  readonly magic?: string;
  readonly version?: number;
  readonly numTensors?: number;
  readonly numEntries?: number;
  /** ggml's number of the tensors' type. */
  readonly type?: number;
}

const ALIGNMENT = 32;
const TYPE = { uint32: 4, int32: 5, float32: 6, bool: 7, string: 8, array: 9, uint64: 10 } as const;

/** Keys whose values llama.cpp takes as fp32 alone, whole numbers too. */
const FLOATS = /freq|factor|scale|beta|multiplier/;

/** Test support: writes GGUF as the format's description in ggml-org/ggml (`docs/gguf.md`) has it. */
export function ggufFile(
  metadata: Readonly<Record<string, MetadataValue>>,
  tensors: readonly GgufTensor[],
  { magic = 'GGUF', version = 3, ...damage }: Damage = {},
): Uint8Array<ArrayBuffer> {
  const entries = Object.entries(metadata);
  let offset = 0;
  const contents = tensors.map(encodeValues);
  const infos = tensors.map(({ name, shape, type = 'F32' }, i) => {
    const info = [
      text(name),
      uint(shape.length, 4),
      ...shape.toReversed().map((size) => uint(size, 8)),
      uint(damage.type ?? TYPE_OF_TENSOR[type], 4),
      uint(offset, 8),
    ];
    offset += Math.ceil((contents[i]?.byteLength ?? 0) / ALIGNMENT) * ALIGNMENT;
    return info;
  });
  const header = joined([
    new TextEncoder().encode(magic),
    uint(version, 4),
    uint(damage.numTensors ?? tensors.length, 8),
    uint(damage.numEntries ?? entries.length, 8),
    ...entries.flatMap(([key, value]) => [text(key), ...typed(key, value)]),
    ...infos.flat(),
  ]);
  return joined([header, ...contents].map(padded));
}

function encodeValues({ values, type = 'F32' }: GgufTensor): Uint8Array {
  if (type === 'F32') return new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
  if (type === 'F16') return new Uint8Array(toFloat16(values).buffer);
  const { size, encode } = BLOCKS[type];
  const blocks = new Uint8Array((values.length / BLOCK) * size);
  for (let block = 0; block < values.length / BLOCK; block++) {
    const weights = values.subarray(block * BLOCK, (block + 1) * BLOCK);
    encode(weights, blocks.subarray(block * size, (block + 1) * size));
  }
  return blocks;
}

const BLOCK = 32;
const HALF_BLOCK = 16;
const SCALE_BYTES = 2;

/** How ggml rounds a block of weights, in fp32. Behind its scale lie its integers. */
const BLOCKS = {
  Q4_0: { size: SCALE_BYTES + HALF_BLOCK, encode: encodeQ4 },
  Q8_0: { size: SCALE_BYTES + BLOCK, encode: encodeQ8 },
};

/** The largest weight is -8 scales. Value j is in the lower half of byte j, value j + 16 in the upper. */
function encodeQ4(weights: Float32Array, block: Uint8Array): void {
  const extreme = weights.reduce((a, b) => (Math.abs(b) > Math.abs(a) ? b : a), 0);
  const inverse = putScale(Math.fround(extreme / -8), block);
  const codeOf = (i: number): number =>
    Math.min(15, Math.trunc(Math.fround(Math.fround((weights[i] ?? 0) * inverse) + 8.5)));
  for (let j = 0; j < HALF_BLOCK; j++) block[SCALE_BYTES + j] = codeOf(j) | (codeOf(j + HALF_BLOCK) << 4);
}

/** The largest weight is 127 scales. Halves are rounded away from 0. */
function encodeQ8(weights: Float32Array, block: Uint8Array): void {
  const largest = weights.reduce((most, weight) => Math.max(most, Math.abs(weight)), 0);
  const inverse = putScale(Math.fround(largest / 127), block);
  for (const [i, weight] of weights.entries()) {
    const steps = Math.fround(weight * inverse);
    block[SCALE_BYTES + i] = Math.sign(steps) * Math.floor(Math.abs(steps) + 0.5);
  }
}

/** Returns the factor that makes steps of weights. */
function putScale(scale: number, block: Uint8Array): number {
  block.set(new Uint8Array(toFloat16(Float32Array.of(scale)).buffer));
  return scale === 0 ? 0 : Math.fround(1 / scale);
}

function typed(key: string, value: MetadataValue): Uint8Array[] {
  if (typeof value === 'string') return [uint(TYPE.string, 4), text(value)];
  if (typeof value === 'boolean') return [uint(TYPE.bool, 4), uint(Number(value), 1)];
  if (typeof value === 'bigint') return [uint(TYPE.uint64, 4), uint(value, 8)];
  if (typeof value === 'number') {
    return Number.isInteger(value) && !FLOATS.test(key)
      ? [uint(TYPE.uint32, 4), uint(value, 4)]
      : [uint(TYPE.float32, 4), float(value)];
  }
  // An empty list is one of strings: a tokenizer's merges. llama.cpp refuses them with any other type.
  const numbers = key.endsWith('scores') ? TYPE.float32 : TYPE.int32;
  const [first = ''] = value;
  const type = { string: TYPE.string, boolean: TYPE.bool, number: numbers }[kindOf(first)];
  const items = value.map((item) => {
    if (typeof item === 'string') return text(item);
    if (typeof item === 'boolean') return uint(Number(item), 1);
    return type === TYPE.float32 ? float(item) : uint(item, 4);
  });
  return [uint(TYPE.array, 4), uint(type, 4), uint(value.length, 8), ...items];
}

function kindOf(value: string | number | boolean): 'string' | 'number' | 'boolean' {
  if (typeof value === 'string') return 'string';
  return typeof value === 'boolean' ? 'boolean' : 'number';
}

function text(value: string): Uint8Array {
  const bytes = new TextEncoder().encode(value);
  return joined([uint(bytes.byteLength, 8), bytes]);
}

function uint(value: number | bigint, numBytes: 1 | 4 | 8): Uint8Array {
  return new Uint8Array(new BigUint64Array([BigInt(value)]).buffer, 0, numBytes);
}

function float(value: number): Uint8Array {
  return new Uint8Array(new Float32Array([value]).buffer);
}

function padded(bytes: Uint8Array): Uint8Array {
  return joined([bytes, new Uint8Array((ALIGNMENT - (bytes.byteLength % ALIGNMENT)) % ALIGNMENT)]);
}

function joined(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(parts.reduce((sum, part) => sum + part.byteLength, 0));
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.byteLength;
  }
  return bytes;
}
