import type { ByteRange } from '../checkpoint/checkpoint.ts';
import { missingRanges } from './byte-ranges.ts';
import { RangeJournal } from './range-journal.ts';
import type { SyncFile } from './sync-file.ts';

/** A file while it is fetched: every byte at its place, and a journal of those that are there. */
export class PartFile {
  readonly size: number;
  readonly #data: SyncFile;
  readonly #journal: RangeJournal;

  constructor(data: SyncFile, journal: SyncFile, size: number) {
    this.size = size;
    this.#data = data;
    // Of a part file that is gone, the journal says nothing.
    if (data.getSize() === 0) journal.truncate(0);
    this.#journal = new RangeJournal(journal, size);
  }

  missing(wanted: readonly ByteRange[]): readonly ByteRange[] {
    return missingRanges(wanted, this.#journal.ranges);
  }

  write(position: number, bytes: Uint8Array): void {
    this.#data.write(bytes, { at: position });
  }

  /** Takes the room for all of it. @throws StorageQuotaError where there is less. */
  reserve(): void {
    if (this.#data.getSize() < this.size) this.#data.truncate(this.size);
  }

  /**
   * The bytes of this range are written. Without a flush: a browser that crashes loses nothing that was handed over, and
   * what a machine without power loses is found by the file's digest.
   */
  record(range: ByteRange): void {
    this.#journal.add(range);
  }

  /** Bytes that are not there are zeros. */
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
