import { describeJsonFault } from '../../../../protocol/json-fault.ts';
import { isRecord } from './is-record.ts';
import { brokenJsonFile, rowTooLong, type FileRefusal } from './file-errors.ts';
import { MAX_ROW_LENGTH, type FileRow } from './file-row.ts';
import { notJson, notRow } from './row-errors.ts';

/** The rows of a JSON array. What is wrong in it ends it: nothing says where the next row begins. */
export async function* arrayRows(texts: AsyncIterable<string>): AsyncGenerator<FileRow> {
  const entries = new ArrayEntries();
  let number = 0;
  const broken = (fault: string): FileRefusal => {
    const where = number === 0 ? 'at its beginning' : `after row ${number}`;
    return brokenJsonFile(where, fault);
  };
  for await (const text of texts) {
    for (const json of entries.take(text)) {
      let row: FileRow;
      try {
        row = toRow(number + 1, json);
      } catch (cause) {
        throw broken(`in row ${number + 1}, ${describeJsonFault(json.trim()) ?? String(cause)}`);
      }
      number += 1;
      yield row;
    }
    if (entries.openLength > MAX_ROW_LENGTH) throw rowTooLong(`Row ${number + 1}`, MAX_ROW_LENGTH);
  }
  if (!entries.isWhole) throw broken('it has no end, or goes on behind it');
}

export async function* lineRows(texts: AsyncIterable<string>): AsyncGenerator<FileRow> {
  let number = 0;
  let rest = '';
  for await (const text of texts) {
    const [first = '', ...others] = text.split('\n');
    const lines = [rest + first, ...others];
    rest = lines.pop() ?? '';
    for (const line of lines) {
      number += 1;
      if (line.trim() !== '') yield parseLine(number, line);
    }
    if (rest.length > MAX_ROW_LENGTH) throw rowTooLong(`Line ${number + 1}`, MAX_ROW_LENGTH);
  }
  if (rest.trim() !== '') yield parseLine(number + 1, rest);
}

function parseLine(number: number, line: string): FileRow {
  try {
    return toRow(number, line);
  } catch (cause) {
    return { line: number, error: notJson(number, describeJsonFault(line) ?? String(cause)) };
  }
}

/** @throws SyntaxError. */
function toRow(line: number, json: string): FileRow {
  const value: unknown = JSON.parse(json);
  if (typeof value === 'string') return { line, json: JSON.stringify({ text: value }) };
  if (isRecord(value)) return { line, json };
  return { line, error: notRow(line) };
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const OPENING: ReadonlySet<number> = new Set([0x5b, 0x7b]);
const CLOSING: ReadonlySet<number> = new Set([0x5d, 0x7d]);

/** Cuts a JSON array that comes in pieces into the texts of its entries, which are then parsed one by one. */
class ArrayEntries {
  #depth = 0;
  #isInString = false;
  #isEscaped = false;
  #hasEnded = false;
  #numEntries = 0;
  /** The part of the next entry that has come. After the array's end, text that doesn't belong there. */
  #open = '';

  get openLength(): number {
    return this.#open.length;
  }

  /** Whether all of an array has come, and nothing else. */
  get isWhole(): boolean {
    return this.#hasEnded && this.#open.trim() === '';
  }

  *take(text: string): Generator<string> {
    let begin = 0;
    for (let at = 0; at < text.length && !this.#hasEnded; at += 1) {
      const code = text.charCodeAt(at);
      if (this.#isInString || code === QUOTE) {
        this.#passString(code);
      } else if (OPENING.has(code)) {
        this.#depth += 1;
        if (this.#depth === 1) begin = at + 1;
      } else if (CLOSING.has(code) || code === COMMA) {
        if (code !== COMMA) this.#depth -= 1;
        const isEnd = this.#depth === 0;
        if (!isEnd && (code !== COMMA || this.#depth > 1)) continue;
        const entry = this.#open + text.slice(begin, at);
        begin = at + 1;
        this.#open = '';
        this.#hasEnded = isEnd;
        if (isEnd && this.#numEntries === 0 && entry.trim() === '') continue;
        this.#numEntries += 1;
        yield entry;
      }
    }
    this.#open += text.slice(begin);
  }

  #passString(code: number): void {
    if (!this.#isInString) this.#isInString = true;
    else if (this.#isEscaped) this.#isEscaped = false;
    else if (code === BACKSLASH) this.#isEscaped = true;
    else if (code === QUOTE) this.#isInString = false;
  }
}
