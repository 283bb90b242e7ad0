import type { SyncFile } from '../../platform/sync-file.ts';

/** An entry of the index is three float64, which are exact for every size of a file. */
const ENTRY_BYTES = 24;
const PIECE_BYTES = 2 ** 16;
const NEWLINE = 10;
/** The key of a line, at its beginning, is followed by its mark and a space. */
const HEAD = /^(\d+)([.!]) /;
const MAX_HEAD_BYTES = 24;

/** An entry to append: a text without a line break, as JSON is, and the key that finds it. */
export interface LogEntry {
  readonly key: number;
  readonly text: string;
  readonly isMarked?: boolean;
}

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
 * an earlier one. The next line is written over a torn last one. The lines of an index stand in its log and add up to it; if a
 * crash has kept the two apart, the log is read to make the index again.
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
   * One write of the log and one of the index, which has all entries from the least key to the greatest. A flush is not needed:
   * the system keeps what a crashed browser wrote.
   *
   * @throws StorageQuotaError; then nothing has changed.
   */
  append(entries: readonly LogEntry[]): void {
    if (entries.length === 0) return;
    const lines: Uint8Array[] = [];
    const keys = entries.map(({ key }) => key);
    const firstKey = Math.min(...keys);
    const index = this.#readIndex(firstKey, Math.max(...keys) + 1);
    let end = this.#end;
    for (const { key, text, isMarked = false } of entries) {
      const line = new TextEncoder().encode(`${key}${isMarked ? '!' : '.'} ${text}\n`);
      replaceLine(index, key - firstKey, { begin: end, length: line.length, isMarked });
      lines.push(line);
      end += line.length;
    }
    try {
      this.#log.write(concat(lines), { at: this.#end });
      this.#index.write(new Uint8Array(index.buffer), { at: firstKey * ENTRY_BYTES });
    } catch (error) {
      this.#log.truncate(this.#end);
      throw error;
    }
    this.#end = end;
  }

  /** Reads what has been appended until now. */
  reader(): LogReader {
    return new LogReader(this.#log, this.#index);
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
    const reader = this.reader();
    const { length: numEntries } = this;
    for (let key = 0; key < Math.min(numKeys, numEntries); key += 1) {
      const { begin, length, isMarked } = reader.lineAt(key);
      if (length > 0 && !(isMarked && begin < from)) marks[key] = isMarked ? 2 : 1;
    }
    return marks;
  }

  close(): void {
    this.#log.close();
    this.#index.close();
  }

  #recover(): void {
    const reader = this.reader();
    let numBytes = 0;
    let isInLog = true;
    for (let key = this.length - 1; key >= 0; key -= 1) {
      const { begin, length, replacedBytes } = reader.lineAt(key);
      numBytes += length + replacedBytes;
      isInLog &&= begin + length <= this.#end;
    }
    if (isInLog && numBytes === this.#end) return;
    this.#index.truncate(0);
    let begin = 0;
    for (const newline of newlinesIn(this.#log, this.#end)) {
      const bytes = new Uint8Array(Math.min(MAX_HEAD_BYTES, newline - begin));
      this.#log.read(bytes, { at: begin });
      const head = HEAD.exec(new TextDecoder().decode(bytes));
      if (head)
        this.#point(Number(head[1]), { begin, length: newline + 1 - begin, isMarked: head[2] === '!' });
      begin = newline + 1;
    }
  }

  #point(key: number, line: Omit<Line, 'replacedBytes'>): void {
    const index = this.#readIndex(key, key + 1);
    replaceLine(index, 0, line);
    this.#index.write(new Uint8Array(index.buffer), { at: key * ENTRY_BYTES });
  }

  /** Entries that the index doesn't have yet are zeros. */
  #readIndex(from: number, to: number): DataView<ArrayBuffer> {
    const bytes = new Uint8Array((to - from) * ENTRY_BYTES);
    this.#index.read(bytes, { at: from * ENTRY_BYTES });
    return new DataView(bytes.buffer);
  }
}

/** Reads the texts of a log. Neighbors share a read of its files. */
export class LogReader {
  readonly #log: PieceReader;
  readonly #index: PieceReader;

  constructor(log: SyncFile, index: SyncFile) {
    this.#log = new PieceReader(log);
    this.#index = new PieceReader(index);
  }

  /** Undefined for a key without a text. */
  read(key: number): string | undefined {
    const { begin, length } = this.lineAt(key);
    const text = new TextDecoder().decode(this.#log.read(begin, Math.max(0, length - 1)));
    const [head = '', found] = HEAD.exec(text) ?? [];
    return Number(found) === key ? text.slice(head.length) : undefined;
  }

  /** Where a key's line is. */
  lineAt(key: number): Line {
    const { buffer, byteOffset, byteLength } = this.#index.read(key * ENTRY_BYTES, ENTRY_BYTES);
    return byteLength < ENTRY_BYTES ? NO_LINE : lineAt(new DataView(buffer, byteOffset), 0);
  }
}

/** Keeps a piece of a file in memory, for reads that follow each other. */
class PieceReader {
  readonly #file: SyncFile;
  #begin = 0;
  #piece = new Uint8Array(0);

  constructor(file: SyncFile) {
    this.#file = file;
  }

  /** Fewer bytes at the end of the file. */
  read(begin: number, length: number): Uint8Array<ArrayBuffer> {
    const end = begin + length;
    if (begin < this.#begin || end > this.#begin + this.#piece.length) {
      const piece = new Uint8Array(Math.max(length, PIECE_BYTES));
      this.#piece = piece.subarray(0, this.#file.read(piece, { at: begin }));
      this.#begin = begin;
    }
    return this.#piece.subarray(begin - this.#begin, end - this.#begin);
  }
}

const NO_LINE: Line = { begin: 0, length: 0, replacedBytes: 0, isMarked: false };

function lineAt(index: DataView, at: number): Line {
  const numberAt = (place: number): number => index.getFloat64(at * ENTRY_BYTES + 8 * place, true);
  const length = numberAt(1);
  return { begin: numberAt(0), length: Math.abs(length), replacedBytes: numberAt(2), isMarked: length < 0 };
}

function replaceLine(
  index: DataView,
  at: number,
  { begin, length, isMarked }: Omit<Line, 'replacedBytes'>,
): void {
  const replaced = lineAt(index, at);
  const numbers = [begin, isMarked ? -length : length, replaced.length + replaced.replacedBytes];
  for (const [place, number] of numbers.entries())
    index.setFloat64(at * ENTRY_BYTES + 8 * place, number, true);
}

function concat(parts: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}

function endOfLastLine(file: SyncFile): number {
  for (let end = file.getSize(); end > 0; end -= PIECE_BYTES) {
    const begin = Math.max(0, end - PIECE_BYTES);
    const bytes = new Uint8Array(end - begin);
    file.read(bytes, { at: begin });
    const newline = bytes.lastIndexOf(NEWLINE);
    if (newline >= 0) return begin + newline + 1;
  }
  return 0;
}

function* newlinesIn(file: SyncFile, size: number): Generator<number> {
  for (let begin = 0; begin < size; begin += PIECE_BYTES) {
    const bytes = new Uint8Array(Math.min(PIECE_BYTES, size - begin));
    file.read(bytes, { at: begin });
    for (let at = bytes.indexOf(NEWLINE); at >= 0; at = bytes.indexOf(NEWLINE, at + 1)) yield begin + at;
  }
}
