/** Test support: reads back what `encodeGguf` may write; written from the format's description, not from the encoder. */
export interface GgufFile {
  readonly version: number;
  readonly metadata: ReadonlyMap<string, unknown>;
  readonly tensors: readonly {
    readonly name: string;
    /** As the file lists them: fastest first. */
    readonly dims: readonly number[];
    /** Byte offset in the file. */
    readonly begin: number;
    readonly values: Float32Array;
  }[];
  readonly numBytes: number;
}

export function readGguf(file: Uint8Array<ArrayBuffer>): GgufFile {
  const reader = new Reader(file);
  if (reader.magic() !== 'GGUF') throw new Error('Not a GGUF file');
  const version = reader.uint32();
  const [numTensors, numEntries] = [reader.uint64(), reader.uint64()];
  const metadata = new Map(
    Array.from({ length: numEntries }, () => [reader.text(), reader.value(reader.uint32())] as const),
  );
  const index = Array.from({ length: numTensors }, () => ({
    name: reader.text(),
    dims: Array.from({ length: reader.uint32() }, () => reader.uint64()),
    type: reader.uint32(),
    offset: reader.uint64(),
  }));
  const dataBegin = Math.ceil(reader.position / 32) * 32;
  const tensors = index.map(({ name, dims, type, offset }) => {
    const numElements = dims.reduce((product, size) => product * size, 1);
    const begin = dataBegin + offset;
    return { name, dims, begin, values: readValues(file.buffer, type, begin, numElements) };
  });
  return { version, metadata, tensors, numBytes: file.byteLength };
}

/** Reads one value after the other. */
class Reader {
  position = 0;
  readonly #file: Uint8Array<ArrayBuffer>;
  readonly #view: DataView;

  constructor(file: Uint8Array<ArrayBuffer>) {
    this.#file = file;
    this.#view = new DataView(file.buffer);
  }

  magic(): string {
    return this.#decode(4);
  }

  uint32(): number {
    return this.#view.getUint32(this.#take(4), true);
  }

  uint64(): number {
    return Number(this.#view.getBigUint64(this.#take(8), true));
  }

  text(): string {
    return this.#decode(this.uint64());
  }

  value(type: number): unknown {
    if (type === 4) return this.uint32();
    if (type === 5) return this.#view.getInt32(this.#take(4), true);
    if (type === 6) return this.#view.getFloat32(this.#take(4), true);
    if (type === 7) return this.#view.getUint8(this.#take(1)) === 1;
    if (type === 8) return this.text();
    if (type === 9) {
      const elementType = this.uint32();
      return Array.from({ length: this.uint64() }, () => this.value(elementType));
    }
    throw new TypeError(`Expected a known type of value, got ${type}`);
  }

  #decode(numBytes: number): string {
    const begin = this.#take(numBytes);
    return new TextDecoder('utf-8', { fatal: true }).decode(this.#file.subarray(begin, begin + numBytes));
  }

  #take(numBytes: number): number {
    this.position += numBytes;
    return this.position - numBytes;
  }
}

function readValues(buffer: ArrayBuffer, type: number, begin: number, count: number): Float32Array {
  if (type === 0) return new Float32Array(buffer.slice(begin, begin + 4 * count));
  if (type === 1) return Float32Array.from(new Float16Array(buffer.slice(begin, begin + 2 * count)));
  if (type !== 2) throw new TypeError(`Expected tensors of a known type, got ${type}`);
  // Blocks of 32 values: an fp16 scale, then the lower halves of 16 bytes, then their upper halves.
  const view = new DataView(buffer, begin);
  return Float32Array.from({ length: count }, (_, index) => {
    const block = 18 * Math.floor(index / 32);
    const byte = view.getUint8(block + 2 + (index % 16));
    const code = index % 32 < 16 ? byte & 15 : byte >> 4;
    return view.getFloat16(block, true) * (code - 8);
  });
}
