import { joinRanges, missingRanges, type ByteRange } from '../formats/byte-ranges.ts';
import type { SyncFile } from '../../../platform/sync-file.ts';

/** Two numbers as float64: exact for every size that a file can have. */
const RECORD_BYTES = 16;

/**
 * A partly fetched file, with a journal of the bytes that are there. Records are only appended to the journal, so a crash can
 * damage the last one only; an invalid record is ignored.
 */
export class PartFile {
  readonly size: number;
  readonly #data: SyncFile;
  readonly #journal: SyncFile;
  #journalBytes = 0;
  #present: readonly ByteRange[];
  #nextRecord = Promise.withResolvers<void>();

  constructor(data: SyncFile, journal: SyncFile, size: number) {
    this.size = size;
    this.#data = data;
    this.#journal = journal;
    // The journal of a lost part file is void.
    if (data.getSize() === 0) journal.truncate(0);
    const records = new Uint8Array(journal.getSize());
    journal.read(records, { at: 0 });
    this.#present = readJournal(records.buffer, size);
    // Compacts the journal, so that interruptions do not grow it. The file is cut off last: a crash in between loses nothing.
    for (const range of this.#present) this.#append(range);
    journal.truncate(this.#journalBytes);
  }

  missing(wanted: readonly ByteRange[]): readonly ByteRange[] {
    return missingRanges(wanted, this.#present);
  }

  write(position: number, bytes: Uint8Array): void {
    this.#data.write(bytes, { at: position });
  }

  /** Reserves storage for the whole file. @throws StorageQuotaError if there is less. */
  reserve(): void {
    if (this.#data.getSize() < this.size) this.#data.truncate(this.size);
  }

  /**
   * Marks a range as written. A flush is not needed: the system keeps what a crashed browser wrote, and the file's digest
   * detects what a power failure lost.
   */
  record(range: ByteRange): void {
    this.#append(range);
    this.#present = joinRanges([...this.#present, range]);
    this.#nextRecord.resolve();
    this.#nextRecord = Promise.withResolvers();
  }

  /** Resolves when more is marked as written. */
  get nextRecord(): Promise<void> {
    return this.#nextRecord.promise;
  }

  /** Missing bytes are zeros. */
  read(begin: number, end: number): Uint8Array<ArrayBuffer> {
    const bytes = new Uint8Array(end - begin);
    this.#data.read(bytes, { at: begin });
    return bytes;
  }

  close(): void {
    this.#data.close();
    this.#journal.close();
  }

  #append({ begin, end }: ByteRange): void {
    this.#journal.write(new Uint8Array(Float64Array.of(begin, end).buffer), { at: this.#journalBytes });
    this.#journalBytes += RECORD_BYTES;
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
