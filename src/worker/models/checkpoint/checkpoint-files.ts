/** A file that can be read at will: in OPFS, picked from disk, in memory, or over HTTP ranges. */
export interface RandomAccessFile {
  readonly name: string;
  /** Bytes. */
  readonly size: number;
  /** @returns The bytes from `begin` to `end`, exclusive, in a buffer of their own. */
  read(begin: number, end: number): Promise<Uint8Array<ArrayBuffer>>;
}

/** The files of one checkpoint, wherever they are. */
export interface CheckpointFiles {
  /** @returns `undefined` where there is no such file. */
  open(name: string): Promise<RandomAccessFile | undefined>;
}

/** A file whose bytes are in memory already. */
export function memoryFile(name: string, bytes: Uint8Array): RandomAccessFile {
  return {
    name,
    size: bytes.byteLength,
    // Not `slice`: of Node's `Buffer` that is a view.
    read: (begin, end) => Promise.resolve(new Uint8Array(bytes.subarray(begin, end))),
  };
}
