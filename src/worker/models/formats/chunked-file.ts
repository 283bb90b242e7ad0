import type { RandomAccessFile } from './checkpoint-files.ts';

interface Chunk {
  readonly begin: number;
  readonly end: number;
  bytes: Uint8Array<ArrayBuffer> | undefined;
  numUnread: number;
}

/** A file in the chunks in which it came. Each byte is read once: a chunk's memory is given back with its last byte. */
export class ChunkedFile implements RandomAccessFile {
  readonly name: string;
  readonly size: number;
  readonly #chunks: readonly Chunk[];

  constructor(name: string, chunks: readonly Uint8Array<ArrayBuffer>[]) {
    this.name = name;
    let end = 0;
    this.#chunks = chunks.map((bytes) => {
      end += bytes.byteLength;
      return { begin: end - bytes.byteLength, end, bytes, numUnread: bytes.byteLength };
    });
    this.size = end;
  }

  /** @throws RangeError for bytes that were read before. */
  read(begin: number, end: number): Promise<Uint8Array<ArrayBuffer>> {
    const target = new Uint8Array(Math.max(0, Math.min(end, this.size) - begin));
    for (const chunk of this.#chunks) {
      const [from, to] = [Math.max(begin, chunk.begin), Math.min(end, chunk.end)];
      if (from >= to) continue;
      if (!chunk.bytes) return Promise.reject(new RangeError(`${this.name} was read at ${from} before`));
      target.set(chunk.bytes.subarray(from - chunk.begin, to - chunk.begin), from - begin);
      chunk.numUnread -= to - from;
      if (chunk.numUnread <= 0) chunk.bytes = undefined;
    }
    return Promise.resolve(target);
  }
}
