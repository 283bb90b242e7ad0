import { readCells, type WireError } from '../../../../client/index.ts';
import { csvRows, findSeparator } from './csv-rows.ts';
import { emptyFile, FileRefusal, fileWithoutRows, notJsonFile, notTableFile } from './file-errors.ts';
import type { FileRow } from './file-row.ts';
import { arrayRows, lineRows } from './json-rows.ts';
import { readText } from './read-text.ts';

/** A file whose beginning has been read. */
export interface OpenedFile {
  readonly name: string;
  readonly numBytes: number;
  readonly columns: readonly string[];
  /** The first rows that can be read, each the text of a JSON object. */
  readonly head: readonly string[];
  /** Whether its rows are requests of OpenAI’s batch API, which need no template. */
  readonly isBatch: boolean;
  /** Reads the file from its start. Throws FileRefusal where nothing more can be read. */
  readonly rows: () => AsyncIterable<FileRow>;
}

/** The rows that the columns are taken from. */
const NUM_HEAD_ROWS = 20;

const JSON_NAME = /\.(json|jsonl|ndjson)$/i;
const TABLE_NAME = /\.(csv|tsv|tab)$/i;
const JSON_START = /^\s*(\[|\{)/;
/** Stricter, for a table’s first column may be named `[id]`. */
const JSON_ROWS_START = /^\s*(\[\s*[[{"]|\{\s*")/;

/** @throws FileRefusal that says what the file is instead, or where it is broken. */
export async function openFile(file: File): Promise<OpenedFile> {
  const start = (await readText(file).next()).value ?? '';
  if (start.trim() === '') throw emptyFile(file.name);
  const read = readerOf(file.name, start);
  const rows = (): AsyncIterable<FileRow> => read(readText(file));
  const head = await readHead(rows());
  const [first] = head;
  if (first === undefined) throw fileWithoutRows(file.name);
  const cells = head.map((row) => [...(readCells(row)?.keys() ?? [])]);
  const isBatch = ['custom_id', 'url', 'body'].every((field) => cells[0]?.includes(field));
  const columns = [...new Set(cells.flat())];
  return { name: file.name, numBytes: file.size, columns, head, isBatch, rows };
}

/** The content decides: a name only says what was expected. */
function readerOf(name: string, start: string): (texts: AsyncIterable<string>) => AsyncIterable<FileRow> {
  const [, bracket] = JSON_START.exec(start) ?? [];
  if (JSON_NAME.test(name) && bracket === undefined) throw notJsonFile(name, start.trimStart().slice(0, 20));
  if (!JSON_NAME.test(name) && (TABLE_NAME.test(name) || !JSON_ROWS_START.test(start))) {
    if (JSON_ROWS_START.test(start)) throw notTableFile(name);
    const separator = findSeparator(start, /\.(tsv|tab)$/i.test(name) ? '\t' : undefined);
    return (texts) => csvRows(texts, separator);
  }
  return bracket === '[' ? arrayRows : lineRows;
}

/** Broken rows are marked when the job runs. A file that begins with nothing else is broken itself. */
async function readHead(rows: AsyncIterable<FileRow>): Promise<readonly string[]> {
  const head: string[] = [];
  const broken: WireError[] = [];
  for await (const row of rows) {
    if ('json' in row) head.push(row.json);
    else broken.push(row.error);
    if (head.length + broken.length === NUM_HEAD_ROWS) break;
  }
  const [error] = broken;
  if (head.length === 0 && error) throw FileRefusal.ofRow(error);
  return head;
}
