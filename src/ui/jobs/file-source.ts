import type { JobRecord, JobRequest, WireError } from '../../client/index.ts';
import type { FileRow } from './files/file-row.ts';

/**
 * The rows of a table, with a text for each column. A row that can’t be read has its reason in place of the columns, so the job marks
 * it. Before the first good row there is none: that one names the columns.
 */
export async function* toRecords(rows: AsyncIterable<FileRow>): AsyncGenerator<JobRecord> {
  let hasColumns = false;
  for await (const row of rows) {
    if ('values' in row) yield toRecord(row.values);
    else if (hasColumns) yield unreadable(row);
    hasColumns ||= 'values' in row;
  }
}

/** The name of the column names the line, because the job's error has the name alone. */
function unreadable({ line, error }: Extract<FileRow, { error: WireError }>): JobRecord {
  return { [`unreadable, line ${line}`]: error.message };
}

/** Texts as they are, anything else as JSON. */
export function toRecord(values: Readonly<Record<string, unknown>>): JobRecord {
  return Object.fromEntries(
    Object.entries(values).map(([column, value]) => [
      column,
      typeof value === 'string' ? value : value === null ? '' : JSON.stringify(value),
    ]),
  );
}

/** The lines of a batch. The job checks each, and marks those of another shape. */
export async function* toRequests(rows: AsyncIterable<FileRow>): AsyncGenerator<JobRequest> {
  for await (const row of rows) {
    const line: unknown = 'values' in row ? row.values : unreadable(row);
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- see above
    yield line as JobRequest;
  }
}
