import { writeCells, type WireError } from '../../../client/index.ts';
import type { FileRow } from './files/file-row.ts';

/**
 * The rows of a table. A row that can’t be read has its reason in place of the columns, so the job marks it. Before the first good row
 * there is none: that one names the columns.
 */
export async function* toRecords(rows: AsyncIterable<FileRow>): AsyncGenerator<string> {
  let hasColumns = false;
  for await (const row of rows) {
    if ('json' in row) yield row.json;
    else if (hasColumns) yield unreadable(row);
    hasColumns ||= 'json' in row;
  }
}

/** The name of the column names the line, because the job's error has the name alone. */
function unreadable({ line, error }: Extract<FileRow, { error: WireError }>): string {
  return writeCells([[`unreadable, line ${line}`, JSON.stringify(error.message)]]);
}

/** The lines of a batch. The job checks each, and marks those of another shape. */
export async function* toRequests(rows: AsyncIterable<FileRow>): AsyncGenerator<string> {
  for await (const row of rows) yield 'json' in row ? row.json : unreadable(row);
}
