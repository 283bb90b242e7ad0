import type { SyncFile } from '../models/store/opfs.ts';

/** Float64, which are exact for every size of a file. */
const NUMBERS_PER_ENTRY = 3;
const ENTRY_BYTES = 8 * NUMBERS_PER_ENTRY;
const ENTRIES_PER_CHUNK = 4096;
const CHUNK_BYTES = 2 ** 16;
const NEWLINE = 10;
/** The key of a line, at its beginning, is followed by its mark and a space. */
const HEAD = /^(\d+)([.!]) /;
const MAX_HEAD_BYTES = 24;

/** An entry of the index. The length of a marked line is stored as a negative number. */
interface Line {
  readonly begin: number;
  /** With the newline. 0 for a key without a text. */
  readonly length: number;
  /** Bytes of the lines that this one has replaced. */
  readonly replacedBytes: number;
  readonly isMarked: boolean;
}

/**
 * Texts by number, in a log that is only appended to, with an index of where they are. A later text of a key takes the place of
 * an earlier one. The next line is written over a torn last one. The lines of an index add up to its log; if a crash has kept them apart, the
 * log is read to make the index again.
 */
export class IndexedLog {
  readonly #log: SyncFile;
  readonly #index: SyncFile;
  /** Where the next line begins. */
  #end: number;

  constructor(log: SyncFile, index: SyncFile) {
    this.#log = log;
    this.#index = index;
    this.#end = endOfLastLine(log);
    index.truncate(this.length * ENTRY_BYTES);
    this.#recover();
  }

  /** One more than the greatest key. */
  get length(): number {
    return Math.floor(this.#index.getSize() / ENTRY_BYTES);
  }

  /**
   * A flush is not needed: the system keeps what a crashed browser wrote.
   *
   * @param text Without a line break, as JSON is.
   * @throws StorageQuotaError; then nothing has changed.
   */
  append(key: number, text: string, isMarked = false): void {
    const bytes = new TextEncoder().encode(`${key}${isMarked ? '!' : '.'} ${text}\n`);
    const begin = this.#end;
    try {
      this.#log.write(bytes, { at: begin });
      this.#point(key, begin, bytes.byteLength, isMarked);
    } catch (error) {
      this.#log.truncate(begin);
      throw error;
    }
    this.#end += bytes.byteLength;
  }

  /** Undefined for a key without a text. */
  read(key: number): string | undefined {
    const { begin, length } = this.#lineAt(key);
    const text = this.#textAt(begin, Math.max(0, length - 1));
    const [head = '', found] = HEAD.exec(text) ?? [];
    return Number(found) === key ? text.slice(head.length) : undefined;
  }

  /** Bytes of a key's line; 0 for a key without a text. */
  sizeOf(key: number): number {
    return this.#lineAt(key).length;
  }

  /** Where the next line begins. */
  get end(): number {
    return this.#end;
  }

  /**
   * For each key: 0 without a text, 1 with one, 2 with one that is marked.
   *
   * @param from Marked lines before this place don't count.
   */
  marks(numKeys: number, from = 0): Uint8Array {
    const marks = new Uint8Array(numKeys);
    for (const [key, { begin, length, isMarked }] of this.#lines()) {
      if (length === 0 || key >= numKeys || (isMarked && begin < from)) continue;
      marks[key] = isMarked ? 2 : 1;
    }
    return marks;
  }

  close(): void {
    this.#log.close();
    this.#index.close();
  }

  #recover(): void {
    let numBytes = 0;
    for (const [, { length, replacedBytes }] of this.#lines()) numBytes += length + replacedBytes;
    if (numBytes === this.#end) return;
    this.#index.truncate(0);
    let begin = 0;
    for (const newline of newlinesIn(this.#log, this.#end)) {
      const head = HEAD.exec(this.#textAt(begin, Math.min(MAX_HEAD_BYTES, newline - begin)));
      if (head) this.#point(Number(head[1]), begin, newline + 1 - begin, head[2] === '!');
      begin = newline + 1;
    }
  }

  *#lines(): Generator<readonly [key: number, line: Line]> {
    const { length } = this;
    for (let first = 0; first < length; first += ENTRIES_PER_CHUNK) {
      const numbers = new Float64Array(NUMBERS_PER_ENTRY * Math.min(ENTRIES_PER_CHUNK, length - first));
      this.#index.read(new Uint8Array(numbers.buffer), { at: first * ENTRY_BYTES });
      for (let at = 0; at < numbers.length; at += NUMBERS_PER_ENTRY)
        yield [first + at / NUMBERS_PER_ENTRY, lineOf(numbers.subarray(at))];
    }
  }

  #lineAt(key: number): Line {
    const numbers = new Float64Array(NUMBERS_PER_ENTRY);
    this.#index.read(new Uint8Array(numbers.buffer), { at: key * ENTRY_BYTES });
    return lineOf(numbers);
  }

  #point(key: number, begin: number, length: number, isMarked: boolean): void {
    const replaced = this.#lineAt(key);
    const replacedBytes = replaced.length + replaced.replacedBytes;
    const entry = Float64Array.of(begin, isMarked ? -length : length, replacedBytes);
    this.#index.write(new Uint8Array(entry.buffer), { at: key * ENTRY_BYTES });
  }

  #textAt(begin: number, length: number): string {
    const bytes = new Uint8Array(length);
    this.#log.read(bytes, { at: begin });
    return new TextDecoder().decode(bytes);
  }
}

function lineOf([begin = 0, length = 0, replacedBytes = 0]: Float64Array): Line {
  return { begin, length: Math.abs(length), replacedBytes, isMarked: length < 0 };
}

function endOfLastLine(file: SyncFile): number {
  for (let end = file.getSize(); end > 0; end -= CHUNK_BYTES) {
    const begin = Math.max(0, end - CHUNK_BYTES);
    const bytes = new Uint8Array(end - begin);
    file.read(bytes, { at: begin });
    const newline = bytes.lastIndexOf(NEWLINE);
    if (newline >= 0) return begin + newline + 1;
  }
  return 0;
}

function* newlinesIn(file: SyncFile, size: number): Generator<number> {
  for (let begin = 0; begin < size; begin += CHUNK_BYTES) {
    const bytes = new Uint8Array(Math.min(CHUNK_BYTES, size - begin));
    file.read(bytes, { at: begin });
    for (let at = bytes.indexOf(NEWLINE); at >= 0; at = bytes.indexOf(NEWLINE, at + 1)) yield begin + at;
  }
}
