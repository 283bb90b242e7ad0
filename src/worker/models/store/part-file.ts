import type { ByteRange } from '../checkpoint/checkpoint.ts';
import { missingRanges } from './byte-ranges.ts';
import { RangeJournal } from './range-journal.ts';
import type { SyncFile } from './sync-file.ts';

/** A partly fetched file, with a journal of the bytes that are there. */
export class PartFile {
  readonly size: number;
  readonly #data: SyncFile;
  readonly #journal: RangeJournal;

  constructor(data: SyncFile, journal: SyncFile, size: number) {
    this.size = size;
    this.#data = data;
    // The journal of a lost part file is void.
    if (data.getSize() === 0) journal.truncate(0);
    this.#journal = new RangeJournal(journal, size);
  }

  missing(wanted: readonly ByteRange[]): readonly ByteRange[] {
    return missingRanges(wanted, this.#journal.ranges);
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
    this.#journal.add(range);
  }

  /** Missing bytes are zeros. */
  read(begin: number, end: number): Uint8Array<ArrayBuffer> {
    const bytes = new Uint8Array(end - begin);
    this.#data.read(bytes, { at: begin });
    return bytes;
  }

  close(): void {
    this.#data.flush();
    this.#data.close();
    this.#journal.close();
  }
}
