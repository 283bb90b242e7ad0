import * as fc from 'fast-check';
import papa from 'papaparse';
import { describe, expect, it } from 'vitest';

import tables from '../../../../../tools/reference/fixtures/tables.json' with { type: 'json' };
import { readCells, textOfCell } from '../../../../client/index.ts';
import { isLinear } from '../../../../platform/testing/growth.ts';
import { toRecords } from '../job-form.ts';
import type { FileRow } from './file-row.ts';
import { openFile } from './open-file.ts';

async function readAll(rows: AsyncIterable<FileRow>): Promise<FileRow[]> {
  const all: FileRow[] = [];
  for await (const row of rows) all.push(row);
  return all;
}

const fileOf = (name: string, ...parts: BlobPart[]): File => new File(parts, name);

async function rowsOf(file: File): Promise<FileRow[]> {
  const { rows } = await openFile(file);
  return readAll(rows());
}

/** The values of the rows; of a broken one its code. */
async function valuesOf(file: File): Promise<unknown[]> {
  return (await rowsOf(file)).map((row) => ('json' in row ? JSON.parse(row.json) : row.error.code));
}

/** Without a mark, unless the text begins with it. */
function utf16(text: string, isLittleEndian: boolean): Uint8Array<ArrayBuffer> {
  const view = new DataView(new ArrayBuffer(2 * text.length));
  for (let at = 0; at < text.length; at += 1) view.setUint16(2 * at, text.charCodeAt(at), isLittleEndian);
  return new Uint8Array(view.buffer);
}

describe('a table', () => {
  it.each([
    ['commas', 'a.csv', 'id,text\n1,one\n2,two\n'],
    ['semicolons', 'a.csv', 'id;text\n1;one\n2;two\n'],
    ['tabs', 'a.tsv', 'id\ttext\n1\tone\n2\ttwo'],
    ['line ends of Windows', 'a.csv', 'id,text\r\n1,one\r\n2,two\r\n'],
    ['line ends of an old Mac', 'a.csv', 'id,text\r1,one\r2,two'],
    ['mixed line ends and empty lines', 'a.csv', 'id,text\n\n1,one\r\n\r\n2,two'],
    ['a name that says nothing', 'a.txt', 'id,text\n1,one\n2,two'],
  ])('is read with %s', async (_, name, text) => {
    expect(await valuesOf(fileOf(name, text))).toEqual([
      { id: '1', text: 'one' },
      { id: '2', text: 'two' },
    ]);
  });

  it('has no empty row where a chunk ends within the line end of Windows', async () => {
    for (const length of [2 ** 18 - 1, 2 ** 18]) {
      const [first, ...others] = await rowsOf(
        fileOf('a.csv', 'id\r\n', 'x'.repeat(length - 5), '\r\n"y\r\n"\r\n'),
      );
      expect(first).toMatchObject({ line: 2 });
      expect(others).toEqual([{ line: 3, json: '{"id":"y\\n"}' }]);
    }
  });

  it('gives every column a name of its own', async () => {
    const { columns } = await openFile(fileOf('a.csv', 'a,,a,a 2\n1,2,3,4'));
    expect(columns).toEqual(['a', 'column 2', 'a 2', 'a 2 2']);
  });

  it('names 20,000 columns of one name in linear time', async () => {
    const { columns } = await openFile(fileOf('a.csv', `${'a,'.repeat(20_000)}\n${'1,'.repeat(20_000)}`));
    expect(columns.at(-1)).toBe('a 20000');
  });

  it('is read as written, whatever its cells hold and wherever a chunk ends', async () => {
    const cell = fc.string({ unit: fc.constantFrom('a', '"', ',', '\n', ' ', 'é', '😀'), maxLength: 12 });
    const row = fc.tuple(cell, cell, cell).filter((cells) => cells.join('') !== '');
    await fc.assert(
      fc.asyncProperty(fc.array(row, { minLength: 1, maxLength: 20 }), async (rows) => {
        // The first row is long enough for a second chunk.
        const table = [['x', 'y', 'z'], ['long '.repeat(60_000), 'é', '"'], ...rows];
        const quoted = table.map((cells) => cells.map((text) => `"${text.replaceAll('"', '""')}"`).join(','));
        const values = await valuesOf(fileOf('a.csv', quoted.join('\n')));
        expect(values).toEqual(table.slice(1).map(([x, y, z]) => ({ x, y, z })));
      }),
      { numRuns: 20 },
    );
  });

  it('marks broken quotes by their line, and reads the other rows', async () => {
    const text = 'id,text\n1,"two\nlines"\n2,"a "quote" inside"\n3,fine\n4,"open\n5,last\n';
    const rows = await rowsOf(fileOf('a.csv', text));
    expect(rows.map((row) => [row.line, 'json' in row ? JSON.parse(row.json).id : row.error.code])).toEqual([
      [2, '1'],
      [4, 'BROKEN_QUOTES'],
      [5, '3'],
      [6, 'BROKEN_QUOTES'],
      [7, '5'],
    ]);
  });

  it('counts a cell and a column as one', async () => {
    const [row] = await rowsOf(fileOf('a.csv', 'id\n1,2\n3\n'));
    expect(row).toMatchObject({
      error: { message: expect.stringContaining('has 2 cells, but the first line names 1 column.') },
    });
  });

  it('marks rows with more or fewer cells than columns, and goes on', async () => {
    expect(await valuesOf(fileOf('a.csv', 'id,text\n1\n2,Hello, world\n3,x\n4,'))).toEqual([
      'ROW_TOO_SHORT',
      'ROW_TOO_LONG',
      { id: '3', text: 'x' },
      { id: '4', text: '' },
    ]);
  });

  it('reads a cell of 10 MB in linear time', async () => {
    const long = 'All work and no play. '.repeat(480_000);
    const [first, second] = await valuesOf(fileOf('a.csv', `id,text\n1,"${long}"\n2,short\n`));
    expect(first).toEqual({ id: '1', text: long });
    expect(second).toEqual({ id: '2', text: 'short' });
  });

  it('goes on at the next line where a quote in a large file never closes', async () => {
    const lines = Array.from({ length: 20_000 }, (_, index) => `${index},${'some words '.repeat(90)}\n`);
    lines[3] = '3,"open\n';
    const rows = await rowsOf(fileOf('a.csv', 'id,text\n', lines.join('')));
    expect(rows).toHaveLength(lines.length);
    expect(rows.filter((row) => 'error' in row)).toMatchObject([{ line: 5 }]);
  });

  it('is refused where nearly every quote is open', async () => {
    const lines = Array.from({ length: 200 }, () => 'x,"open\n');
    await expect(rowsOf(fileOf('a.csv', 'id,text\n1,one\n', ...lines))).rejects.toMatchObject({
      code: 'BROKEN_QUOTES',
    });
  });
});

const texts = (json: string) => Array.from(readCells(json) ?? [], ([name, cell]) => [name, textOfCell(cell)]);

/** The cells of each row, in order, as texts. */
async function cellsOf(file: File): Promise<unknown[]> {
  const rows = await rowsOf(file);
  return rows.map((row) => ('json' in row ? texts(row.json) : row.error.code));
}

describe('a table of another program', () => {
  it('has the columns and cells that Python’s csv reads, whatever their names', async () => {
    for (const { text, columns, rows } of tables.tables) {
      const file = fileOf('a.csv', text);
      expect((await openFile(file)).columns).toEqual(columns);
      const expected = rows.map((cells) => columns.map((name, at) => [name, cells[at]]));
      expect(await cellsOf(file)).toEqual(expected);
    }
  });

  it.each([';', ',', '|', '\t'])('may begin with a line that names its separator: %j', async (separator) => {
    const lines = [`sep=${separator}`, ['id', 'a,b;c'].join(separator), ['1', 'x'].join(separator)];
    const text = lines.join('\r\n').replace('a,b;c', '"a,b;c"');
    expect(await cellsOf(fileOf('a.csv', text))).toEqual([
      [
        ['id', '1'],
        ['a,b;c', 'x'],
      ],
    ]);
  });

  it('keeps a row of one empty cell in quotes, and skips empty lines', async () => {
    const rows = await rowsOf(fileOf('a.csv', 'text\n\n""\nx\n\n"two\nlines"\n""'));
    expect(rows.map((row) => [row.line, 'json' in row && row.json])).toEqual([
      [3, '{"text":""}'],
      [4, '{"text":"x"}'],
      [6, '{"text":"two\\nlines"}'],
      [8, '{"text":""}'],
    ]);
  });

  it('may have a separator behind the last cell of every row', async () => {
    expect(await cellsOf(fileOf('a.csv', 'a,b\n1,2,\n3,4,,\n5,6,7\n'))).toEqual([
      [
        ['a', '1'],
        ['b', '2'],
      ],
      [
        ['a', '3'],
        ['b', '4'],
      ],
      'ROW_TOO_LONG',
    ]);
  });

  it('may have a separator behind the last name, too, where no cell follows', async () => {
    expect(await cellsOf(fileOf('a.csv', 'a,,\n1,,\n2,3,\n'))).toEqual([[['a', '1']], 'ROW_TOO_LONG']);
    expect(await cellsOf(fileOf('a.csv', 'a,,\n1,2,\n'))).toEqual([
      [
        ['a', '1'],
        ['column 2', '2'],
      ],
    ]);
  });

  it('is refused by name in UTF-32', async () => {
    for (const mark of [
      [0xff, 0xfe, 0, 0],
      [0, 0, 0xfe, 0xff],
    ])
      await expect(openFile(fileOf('a.csv', new Uint8Array([...mark, 0x61, 0, 0, 0])))).rejects.toMatchObject(
        {
          code: 'FILE_ENCODING',
          message: expect.stringContaining('UTF-32'),
        },
      );
  });

  it.each([
    ['quotes that end nowhere', 'a\n', '"x'],
    ['quotes and blanks', 'a\n"', '" '],
    ['carriage returns', 'a\nx', '\r'],
    ['entries of JSON', '[', '{},'],
    ['brackets', '', '['],
    ['braces', '', '{"a":'],
  ])('takes time in proportion to its length: %s', async (_, begin, part) => {
    const run = async (length: number): Promise<void> => {
      const text = begin + part.repeat(Math.ceil(length / part.length));
      await rowsOf(fileOf('a.txt', text)).catch(() => {});
    };
    expect(await isLinear(2 ** 20, run)).toBe(true);
  });
});

describe('JSON', () => {
  it('keeps columns in order, and numbers as they are written, in lines and in an array', async () => {
    const rows = tables.jsonRows.map(({ text }) => text);
    const inOneLine = rows.map((text) => text.replaceAll('\n', ' '));
    const cells = rows.map((text) => [...(readCells(text) ?? [])]);
    for (const file of [
      fileOf('a.jsonl', inOneLine.join('\n')),
      fileOf('a.json', `[${rows.join(',\n')}]\n`),
    ]) {
      const { rows: read } = await openFile(file);
      const found: string[] = [];
      for await (const json of toRecords(read())) found.push(json);
      expect(found.map((json) => [...(readCells(json) ?? [])])).toEqual(cells);
    }
  });

  it.each([
    '[{"a":1} {"a":2}]',
    '[{"a":1},]',
    '[{"a":1}',
    '[{"a":1}] x',
    '[{"a":1}][{"a":2}]',
    '[,{"a":1}]',
    '[{"a":]}]',
  ])('is refused where it is broken: %s', async (text) => {
    await expect(rowsOf(fileOf('a.json', text))).rejects.toMatchObject({ code: 'INVALID_JSON' });
  });

  const rows = [{ id: 1, text: 'one' }, 'two', 3];
  const values = [{ id: 1, text: 'one' }, { text: 'two' }, 'INVALID_ROW'];

  it.each([
    ['an array', 'a.json', JSON.stringify(rows, undefined, 2)],
    ['lines', 'a.jsonl', rows.map((row) => JSON.stringify(row)).join('\n')],
    ['lines that are named as an array', 'a.json', rows.map((row) => JSON.stringify(row)).join('\r\n\r\n')],
    ['an array that is named as lines', 'a.ndjson', JSON.stringify(rows)],
    ['a name that says nothing', 'a.txt', JSON.stringify(rows)],
  ])('is read as %s', async (_, name, text) => {
    expect(await valuesOf(fileOf(name, text))).toEqual(values);
  });

  it('knows its columns from the first rows, and batches of OpenAI', async () => {
    expect((await openFile(fileOf('a.jsonl', '{"a":1}\n{"b":2}'))).columns).toEqual(['a', 'b']);
    const request = { custom_id: 'x', method: 'POST', url: '/v1/completions', body: { prompt: 'x' } };
    const { isBatch } = await openFile(fileOf('a.jsonl', JSON.stringify(request)));
    expect(isBatch).toBe(true);
  });

  it('marks a broken line, and gives the rows before a broken place of an array', async () => {
    expect(await valuesOf(fileOf('a.jsonl', '{"a":1}\n{"a":\n{"a":3}'))).toEqual([
      { a: 1 },
      'INVALID_JSON',
      { a: 3 },
    ]);
    const seen: FileRow[] = [];
    const { rows: read } = await openFile(
      fileOf('a.json', JSON.stringify(Array.from({ length: 50_000 }, (_, id) => ({ id }))).slice(0, -4)),
    );
    const reading = (async () => {
      for await (const row of read()) seen.push(row);
    })();
    await expect(reading).rejects.toThrow(/broken after row 49999/);
    expect(seen).toHaveLength(49_999);
  });
});

describe('broken JSON is refused in words that are the same in each browser', () => {
  it.each([
    ['[{"a":1},\n {"a":]}]', 'after row 1: in row 2, expected a value at column 6, got `]`. Correct'],
    ['[{"a":1},]', 'after row 1: in row 2, expected a value at column 1, got the end. Correct'],
    ['[{"a" 1}]', 'at its beginning: in row 1, expected `:` at column 6, got `1`. Correct'],
  ])('in an array: %s', async (text, message) => {
    await expect(rowsOf(fileOf('a.json', text))).rejects.toThrow(`The JSON is broken ${message}`);
  });

  it('in a line', async () => {
    const [, row] = await rowsOf(fileOf('a.jsonl', '{"a":1}\n{"a":\n'));
    expect(row).toMatchObject({
      error: {
        message: expect.stringContaining('Line 2 is not JSON (expected a value at column 6, got the end).'),
      },
    });
  });
});

describe('a file that is not what its name says', () => {
  it.each([
    [
      'an Excel workbook',
      'a.csv',
      [new Uint8Array([0x50, 0x4b, 3, 4, 20, 0, 0, 0])],
      'FILE_NOT_TEXT',
      /Excel/,
    ],
    [
      'a picture',
      'a.csv',
      [new Uint8Array([0x89, 0x50, 0x4e, 0x47, 13, 10, 0, 0])],
      'FILE_NOT_TEXT',
      /not a text/,
    ],
    ['a table named .json', 'a.json', ['id,text\n1,one'], 'FILE_FORMAT', /rename it to \.csv/],
    ['JSON named .csv', 'a.csv', ['[{"id":1}]'], 'FILE_FORMAT', /holds JSON/],
    ['one object over several lines', 'a.json', ['{\n  "rows": []\n}'], 'INVALID_JSON', /Line 1/],
    ['nothing', 'a.csv', [' \n'], 'FILE_EMPTY', /is empty/],
    ['a head alone', 'a.csv', ['id,text\n'], 'FILE_EMPTY', /no rows/],
    ['Windows-1252', 'a.csv', ['id,text\n1,', new Uint8Array([0xe9]), '\n'], 'FILE_ENCODING', /line 2.*1252/],
    ['UTF-16 without a mark', 'a.csv', [utf16('id,text\n1,one', true)], 'FILE_NOT_TEXT', /UTF-16/],
  ])('is refused: %s', async (_, name, parts, code, message) => {
    const opening = openFile(fileOf(name, ...parts));
    await expect(opening).rejects.toMatchObject({ code, message: expect.stringMatching(message) });
  });

  it('names the line of another encoding behind the first chunk', async () => {
    const lines = 'id,text\n'.repeat(50_000);
    const { rows } = await openFile(fileOf('a.csv', lines, new Uint8Array([0xff]), '\n'));
    await expect(readAll(rows())).rejects.toThrow(/see line 50001/);
  });

  it.each([true, false])('is read in UTF-16 with a mark (little endian: %s)', async (isLittleEndian) => {
    const file = fileOf('a.csv', utf16('\uFEFFid,text\n1,grün 😀', isLittleEndian));
    expect(await valuesOf(file)).toEqual([{ id: '1', text: 'grün 😀' }]);
  });

  it('is read without the mark of UTF-8', async () => {
    expect((await openFile(fileOf('a.csv', '\uFEFFid,text\n1,x'))).columns).toEqual(['id', 'text']);
  });
});

it('reads a table as Papa Parse reads it whole', async () => {
  const text = 'a,b\n"x ",1\n y ,"2"\n"say ""hi""",\n';
  const { data } = papa.parse(text, { preview: 100 });
  expect((await valuesOf(fileOf('a.csv', text))).map((row) => Object.values(Object(row)))).toEqual(
    data.slice(1, 4),
  );
});
