import { JSONParser } from '@streamparser/json';

import { isRecord } from '../is-record.ts';
import { FileRefusal, MAX_ROW_LENGTH, type FileRow } from './file-row.ts';

/** The rows of a JSON array. What is wrong in it ends it: nothing says where the next row begins. */
export async function* arrayRows(texts: AsyncIterable<string>): AsyncGenerator<FileRow> {
  const parser = new JSONParser({ paths: ['$.*'], keepStack: false });
  let number = 0;
  let rows: FileRow[] = [];
  parser.onValue = ({ value }) => {
    number += 1;
    rows.push(toRow(number, value));
  };
  try {
    for await (const text of texts) {
      if (text !== '') parser.write(text);
      yield* rows;
      rows = [];
    }
    if (!parser.isEnded) parser.end();
  } catch (cause) {
    yield* rows;
    if (cause instanceof FileRefusal) throw cause;
    const where = number === 0 ? 'at its beginning' : `after row ${number}`;
    throw new FileRefusal('INVALID_JSON', `The JSON is broken ${where}: ${String(cause)}`);
  }
}

/** A row for each line. */
export async function* lineRows(texts: AsyncIterable<string>): AsyncGenerator<FileRow> {
  let number = 0;
  let rest = '';
  for await (const text of texts) {
    const lines = (rest + text).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      number += 1;
      if (line.trim() !== '') yield parseLine(number, line);
    }
    if (rest.length > MAX_ROW_LENGTH)
      throw new FileRefusal(
        'ROW_TOO_LONG',
        `Line ${number + 1} is longer than ${MAX_ROW_LENGTH} characters. Write each row on a line of its own.`,
      );
  }
  if (rest.trim() !== '') yield parseLine(number + 1, rest);
}

function parseLine(number: number, line: string): FileRow {
  try {
    return toRow(number, JSON.parse(line));
  } catch (cause) {
    const message = `Line ${number} is not JSON (${String(cause)}). Write each row on a line of its own.`;
    return { line: number, error: { code: 'INVALID_JSON', message } };
  }
}

function toRow(line: number, value: unknown): FileRow {
  if (typeof value === 'string') return { line, values: { text: value } };
  if (isRecord(value)) return { line, values: value };
  const message = `Row ${line} is neither an object nor a text. Write it as {"text": …}.`;
  return { line, error: { code: 'INVALID_ROW', message } };
}
