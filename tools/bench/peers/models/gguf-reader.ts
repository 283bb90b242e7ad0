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
  const view = new DataView(file.buffer);
  let position = 0;
  const take = (numBytes: number): number => {
    position += numBytes;
    return position - numBytes;
  };
  const uint32 = (): number => view.getUint32(take(4), true);
  const uint64 = (): number => Number(view.getBigUint64(take(8), true));
  const text = (): string => {
    const length = uint64();
    const begin = take(length);
    return new TextDecoder('utf-8', { fatal: true }).decode(file.subarray(begin, begin + length));
  };
  const valueOf = (type: number): unknown => {
    if (type === 4) return uint32();
    if (type === 5) return view.getInt32(take(4), true);
    if (type === 6) return view.getFloat32(take(4), true);
    if (type === 7) return view.getUint8(take(1)) === 1;
    if (type === 8) return text();
    if (type === 9) {
      const elementType = uint32();
      return Array.from({ length: uint64() }, () => valueOf(elementType));
    }
    throw new TypeError(`Expected a known type of value, got ${type}`);
  };

  if (new TextDecoder().decode(file.subarray(0, take(4) + 4)) !== 'GGUF') throw new Error('Not a GGUF file');
  const version = uint32();
  const [numTensors, numEntries] = [uint64(), uint64()];
  const metadata = new Map(Array.from({ length: numEntries }, () => [text(), valueOf(uint32())] as const));
  const index = Array.from({ length: numTensors }, () => ({
    name: text(),
    dims: Array.from({ length: uint32() }, uint64),
    type: uint32(),
    offset: uint64(),
  }));
  const dataBegin = Math.ceil(position / 32) * 32;
  const tensors = index.map(({ name, dims, type, offset }) => {
    const numElements = dims.reduce((product, size) => product * size, 1);
    const begin = dataBegin + offset;
    return { name, dims, begin, values: readValues(file.buffer, type, begin, numElements) };
  });
  return { version, metadata, tensors, numBytes: file.byteLength };
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
