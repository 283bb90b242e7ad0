/** A metadata value and the type it is written as. */
export type GgufValue =
  | { readonly type: 'uint32' | 'int32' | 'float32'; readonly value: number }
  | { readonly type: 'bool'; readonly value: boolean }
  | { readonly type: 'string'; readonly value: string }
  | { readonly type: 'strings'; readonly value: readonly string[] }
  | { readonly type: 'int32s'; readonly value: readonly number[] };

export interface GgufTensor {
  readonly name: string;
  /** Slowest dimension first, as everywhere else in this repository; the file lists them the other way round. */
  readonly shape: readonly number[];
  readonly type: GgufType;
  readonly data: Uint8Array;
}

/** How a tensor is stored: `q4_0` in blocks of 32 values of a row, each an fp16 scale and 16 bytes. */
export type GgufType = keyof typeof TENSOR_TYPE;

const VERSION = 3;
/** Alignment of the tensor data in bytes. It is the format's default, so no key names it. */
export const GGUF_ALIGNMENT = 32;
/** `GGML_TYPE_*` of ggml. */
const TENSOR_TYPE = { f32: 0, f16: 1, q4_0: 2 } as const;
const VALUE_TYPE = { uint32: 4, int32: 5, float32: 6, bool: 7, string: 8, array: 9 } as const;

/**
 * Writes a GGUF file, version 3, little-endian: header, metadata, tensor index, tensor data.
 * Source: docs/gguf.md of ggml-org/ggml.
 */
export function encodeGguf(
  metadata: Readonly<Record<string, GgufValue>>,
  tensors: readonly GgufTensor[],
): Uint8Array<ArrayBuffer> {
  const entries = Object.entries(metadata);
  const out = new ByteWriter();
  out.bytes(new TextEncoder().encode('GGUF'));
  out.uint32(VERSION);
  out.uint64(tensors.length);
  out.uint64(entries.length);
  for (const [key, value] of entries) {
    out.string(key);
    writeValue(out, value);
  }
  let offset = 0;
  for (const { name, shape, type, data } of tensors) {
    out.string(name);
    out.uint32(shape.length);
    for (const size of shape.toReversed()) out.uint64(size);
    out.uint32(TENSOR_TYPE[type]);
    out.uint64(offset);
    offset = aligned(offset + data.byteLength);
  }
  out.pad(GGUF_ALIGNMENT);
  for (const { data } of tensors) {
    out.bytes(data);
    out.pad(GGUF_ALIGNMENT);
  }
  return out.finish();
}

function writeValue(out: ByteWriter, entry: GgufValue): void {
  switch (entry.type) {
    case 'uint32':
    case 'int32':
    case 'float32':
      out.uint32(VALUE_TYPE[entry.type]);
      out[entry.type](entry.value);
      break;
    case 'bool':
      out.uint32(VALUE_TYPE.bool);
      out.bytes(Uint8Array.of(Number(entry.value)));
      break;
    case 'string':
      out.uint32(VALUE_TYPE.string);
      out.string(entry.value);
      break;
    case 'strings':
      writeArrayHead(out, VALUE_TYPE.string, entry.value.length);
      for (const text of entry.value) out.string(text);
      break;
    case 'int32s':
      writeArrayHead(out, VALUE_TYPE.int32, entry.value.length);
      for (const number of entry.value) out.int32(number);
      break;
    default:
      entry satisfies never;
  }
}

function writeArrayHead(out: ByteWriter, elementType: number, length: number): void {
  out.uint32(VALUE_TYPE.array);
  out.uint32(elementType);
  out.uint64(length);
}

function aligned(offset: number): number {
  return Math.ceil(offset / GGUF_ALIGNMENT) * GGUF_ALIGNMENT;
}

/** Little-endian. */
class ByteWriter {
  readonly #parts: Uint8Array[] = [];
  #length = 0;

  bytes(part: Uint8Array): void {
    this.#parts.push(part);
    this.#length += part.length;
  }

  uint32(value: number): void {
    this.#view(4).setUint32(0, value, true);
  }

  int32(value: number): void {
    this.#view(4).setInt32(0, value, true);
  }

  uint64(value: number): void {
    this.#view(8).setBigUint64(0, BigInt(value), true);
  }

  float32(value: number): void {
    this.#view(4).setFloat32(0, value, true);
  }

  /** Its length in bytes, then its UTF-8. */
  string(text: string): void {
    const encoded = new TextEncoder().encode(text);
    this.uint64(encoded.length);
    this.bytes(encoded);
  }

  /** Zeros up to the next multiple. */
  pad(multiple: number): void {
    this.bytes(new Uint8Array((multiple - (this.#length % multiple)) % multiple));
  }

  finish(): Uint8Array<ArrayBuffer> {
    const whole = new Uint8Array(this.#length);
    let position = 0;
    for (const part of this.#parts) {
      whole.set(part, position);
      position += part.length;
    }
    return whole;
  }

  #view(numBytes: number): DataView {
    const part = new Uint8Array(numBytes);
    this.bytes(part);
    return new DataView(part.buffer);
  }
}
