import { isRecord } from './is-record.ts';
import { ArrayEntries } from './array-entries.ts';
import { brokenJsonFile, rowTooLong, type FileRefusal } from './file-errors.ts';
import { MAX_ROW_LENGTH, type FileRow } from './file-row.ts';
import { notJson, notRow } from './row-errors.ts';

/** The rows of a JSON array. What is wrong in it ends it: nothing says where the next row begins. */
export async function* arrayRows(texts: AsyncIterable<string>): AsyncGenerator<FileRow> {
  const entries = new ArrayEntries();
  let number = 0;
  const broken = (cause: unknown): FileRefusal => {
    const where = number === 0 ? 'at its beginning' : `after row ${number}`;
    return brokenJsonFile(where, cause);
  };
  for await (const text of texts) {
    for (const json of entries.take(text)) {
      let row: FileRow;
      try {
        row = toRow(number + 1, json);
      } catch (cause) {
        throw broken(cause);
      }
      number += 1;
      yield row;
    }
    if (entries.openLength > MAX_ROW_LENGTH) throw rowTooLong(`Row ${number + 1}`, MAX_ROW_LENGTH);
  }
  if (!entries.isWhole) throw broken('it has no end, or goes on behind it');
}

/** A row for each line. */
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
    return { line: number, error: notJson(number, cause) };
  }
}

/** @throws SyntaxError. */
function toRow(line: number, json: string): FileRow {
  const value: unknown = JSON.parse(json);
  if (typeof value === 'string') return { line, json: JSON.stringify({ text: value }) };
  if (isRecord(value)) return { line, json };
  return { line, error: notRow(line) };
}
