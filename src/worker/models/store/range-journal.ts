import type { ByteRange } from '../checkpoint/checkpoint.ts';
import { joinRanges } from './byte-ranges.ts';
import type { SyncFile } from './sync-file.ts';

/** Two numbers as float64: exact for every size that a file can have. */
const RECORD_BYTES = 16;

/**
 * Records which bytes of a part file are there, in a file beside it. Records are only appended, so a crash can damage the
 * last one only; an invalid record is ignored.
 */
export class RangeJournal {
  readonly #file: SyncFile;
  /** In bytes. */
  #length: number;
  #ranges: readonly ByteRange[];

  /** @param size Of the part file, in bytes. */
  constructor(file: SyncFile, size: number) {
    this.#file = file;
    const bytes = new Uint8Array(file.getSize());
    file.read(bytes, { at: 0 });
    this.#ranges = readJournal(bytes.buffer, size);
    // Compacts the journal, so that interruptions do not grow it. The file is cut off last: a crash in between loses nothing.
    this.#length = 0;
    for (const range of this.#ranges) this.#append(range);
    file.truncate(this.#length);
  }

  /** In order, with adjacent ones joined. */
  get ranges(): readonly ByteRange[] {
    return this.#ranges;
  }

  add(range: ByteRange): void {
    this.#append(range);
    this.#ranges = joinRanges([...this.#ranges, range]);
  }

  close(): void {
    this.#file.flush();
    this.#file.close();
  }

  #append({ begin, end }: ByteRange): void {
    this.#file.write(new Uint8Array(Float64Array.of(begin, end).buffer), { at: this.#length });
    this.#length += RECORD_BYTES;
  }
}

/** The recorded ranges of a file of `size` bytes, in order, with adjacent ones joined. */
export function readJournal(bytes: ArrayBuffer, size: number): readonly ByteRange[] {
  const numRecords = Math.floor(bytes.byteLength / RECORD_BYTES);
  const values = new Float64Array(bytes, 0, 2 * numRecords);
  const records = Array.from({ length: numRecords }, (_, i) => ({
    begin: values[2 * i] ?? Number.NaN,
    end: values[2 * i + 1] ?? Number.NaN,
  }));
  return joinRanges(records.filter(({ begin, end }) => isWithin(begin, end, size)));
}

function isWithin(begin: number, end: number, size: number): boolean {
  return Number.isInteger(begin) && Number.isInteger(end) && begin >= 0 && begin < end && end <= size;
}
