import type { ByteRange } from '../checkpoint/checkpoint.ts';
import { joinRanges } from './byte-ranges.ts';
import type { SyncFile } from './sync-file.ts';

/** Two numbers as float64: exact for every size that a file can have. */
const RECORD_BYTES = 16;

/**
 * Which bytes of a part file are there, beside it in a file of its own. Records are only ever appended, so a crash can
 * tear the last one and no other; a torn or senseless record counts as not written.
 */
export class RangeJournal {
  readonly #file: SyncFile;
  /** Bytes of the journal that hold whole records. */
  #length: number;
  #ranges: readonly ByteRange[];

  /** @param size Bytes of the file that the journal is about. */
  constructor(file: SyncFile, size: number) {
    this.#file = file;
    const bytes = new Uint8Array(file.getSize());
    file.read(bytes, { at: 0 });
    this.#ranges = readJournal(bytes.buffer, size);
    // As few records as possible: a download that is interrupted often does not grow its journal.
    // Written over the old ones, which say the same, and only then cut off: a crash in between loses nothing.
    this.#length = 0;
    for (const range of this.#ranges) this.#append(range);
    file.truncate(this.#length);
  }

  /** In order, neighbours joined. */
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

/** What a journal says is there of a file of `size` bytes, in order, neighbours joined. */
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
