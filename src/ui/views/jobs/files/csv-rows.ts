import papa from 'papaparse';

import { writeCells } from '../../../../client/index.ts';
import { tooManyOpenQuotes } from './file-errors.ts';
import { MAX_ROW_LENGTH, type FileRow } from './file-row.ts';
import { countLineEnds } from './read-text.ts';
import { brokenQuotes, tooFewCells, tooManyCells } from './row-errors.ts';

/** A quote that never closes hides the rest of the file, which is then read again from the next line. */
const MAX_OPEN_QUOTES = 20;

/** How the cells of a table are kept apart. */
export interface Separator {
  readonly delimiter: string;
  /** Whether the table begins with a line `sep=;`, as Excel writes and reads it. */
  readonly hasLine: boolean;
}

const SEPARATOR_LINE = /^"?sep=([^\w"\n])"?(?:\n|$)/i;

/** By the first lines of a table. */
export function findSeparator(head: string, named: string | undefined): Separator {
  const [, written] = SEPARATOR_LINE.exec(head) ?? [];
  if (written !== undefined) return { delimiter: written, hasLine: true };
  const guessed = named ?? papa.parse(head, { preview: 10, skipEmptyLines: true }).meta.delimiter;
  return { delimiter: guessed, hasLine: false };
}

/** The rows of a table whose first row names the columns. */
export async function* csvRows(texts: AsyncIterable<string>, separator: Separator): AsyncGenerator<FileRow> {
  const table = new Table(separator);
  for await (const text of texts) yield* table.take(text);
  yield* table.end();
}

class Table {
  readonly #parser;
  #header: readonly string[] | undefined;
  #columns: readonly string[] | undefined;
  #line = 1;
  /** The beginning of a row that goes on in the next chunk. */
  #rest = '';
  /** A row that goes on is parsed again once it has doubled, not with each chunk. */
  #wantedLength = 0;
  #numOpenQuotes = 0;
  #isAtSeparatorLine: boolean;

  constructor({ delimiter, hasLine }: Separator) {
    this.#isAtSeparatorLine = hasLine;
    this.#parser = new papa.Parser({ delimiter, newline: '\n' });
  }

  *take(text: string): Generator<FileRow> {
    this.#rest += text;
    if (this.#rest.length < this.#wantedLength) return;
    yield* this.#readRows();
    while (this.#rest.length > MAX_ROW_LENGTH) {
      yield this.#skipLine();
      yield* this.#readRows();
    }
    this.#wantedLength = Math.min(2 * this.#rest.length, MAX_ROW_LENGTH);
  }

  *end(): Generator<FileRow> {
    while (this.#rest !== '') {
      yield* this.#readRows();
      if (this.#rest === '') return;
      const { data, errors } = this.#parser.parse(this.#rest, 0, false);
      if (errors.some(({ code }) => code === 'MissingQuotes')) {
        yield this.#skipLine();
      } else {
        const text = this.#rest;
        this.#rest = '';
        yield* this.#toRows(text, data, errors);
      }
    }
  }

  /** All rows but the last, which may go on. */
  *#readRows(): Generator<FileRow> {
    const { data, errors, meta } = this.#parser.parse(this.#rest, 0, true);
    const text = this.#rest;
    this.#rest = text.slice(meta.cursor);
    yield* this.#toRows(text, data, errors);
  }

  *#toRows(
    text: string,
    data: readonly (readonly string[])[],
    errors: readonly { readonly row?: number }[],
  ): Generator<FileRow> {
    const broken = new Set(errors.map(({ row }) => row));
    const firstLine = this.#line;
    let lines: readonly string[] | undefined;
    for (const [index, cells] of data.entries()) {
      const line = this.#line;
      this.#line += 1 + cells.reduce((sum, cell) => sum + countLineEnds(cell), 0);
      if (cells.length === 1 && cells[0] === '') {
        // The parser tells an empty line and a row of one empty cell in quotes alike.
        lines ??= text.split('\n');
        if (lines[line - firstLine] === '') continue;
      }
      if (this.#isAtSeparatorLine) this.#isAtSeparatorLine = false;
      else if (!this.#header) this.#header = cells;
      else if (broken.has(index)) yield { line, error: brokenQuotes(line) };
      else yield this.#toRow(line, cells, (this.#columns ??= columnsOf(this.#header, cells)));
    }
  }

  #toRow(line: number, cells: readonly string[], columns: readonly string[]): FileRow {
    // Some programs write a separator behind the last cell, too.
    if (cells.slice(columns.length).some((cell) => cell !== ''))
      return { line, error: tooManyCells(line, cells.length, columns.length) };
    if (cells.length < columns.length)
      return { line, error: tooFewCells(line, cells.length, columns.length) };
    return { line, json: writeCells(columns.map((name, at) => [name, JSON.stringify(cells[at])])) };
  }

  /** Gives a row up, and goes on at the next line. */
  #skipLine(): FileRow {
    const line = this.#line;
    this.#numOpenQuotes += 1;
    if (this.#numOpenQuotes > MAX_OPEN_QUOTES) throw tooManyOpenQuotes(MAX_OPEN_QUOTES, line);
    const lineEnd = this.#rest.indexOf('\n');
    this.#rest = lineEnd === -1 ? '' : this.#rest.slice(lineEnd + 1);
    this.#line += 1;
    return { line, error: brokenQuotes(line) };
  }
}

/** Some programs write a separator behind the last name, too: it begins a column if there is something in the first row. */
function columnsOf(header: readonly string[], firstRow: readonly string[]): readonly string[] {
  const isIn = (cell: string, index: number): boolean => cell.trim() !== '' || Boolean(firstRow[index]);
  return uniqueNames(header.slice(0, Math.max(0, header.findLastIndex(isIn)) + 1));
}

/** A column without a name gets its number, and one of a name that is taken gets a number behind it. */
function uniqueNames(cells: readonly string[]): readonly string[] {
  const names = new Set<string>();
  /** Thousands of columns may have one name. */
  const nextCopies = new Map<string, number>();
  for (const [index, cell] of cells.entries()) {
    const name = cell.trim() || `column ${index + 1}`;
    let unique = name;
    let copy = nextCopies.get(name) ?? 2;
    for (; names.has(unique); copy += 1) unique = `${name} ${copy}`;
    nextCopies.set(name, copy);
    names.add(unique);
  }
  return [...names];
}
