import * as fc from 'fast-check';
import { expect, it } from 'vitest';

import tables from '../../tools/reference/fixtures/tables.json' with { type: 'json' };
import { readCells, textOfCell, writeCells } from './job-cells.ts';

const textsOf = (row: string) => Array.from(readCells(row) ?? [], ([name, cell]) => [name, textOfCell(cell)]);

/** As the reference has it: a value with others in it as such, else its text. */
function shown(cell: string, reference: object | string | undefined): object {
  const isNested = typeof reference === 'object' && 'value' in reference;
  return isNested ? { value: JSON.parse(cell) } : { text: textOfCell(cell) };
}

it('reads the cells that Python reads: any name, in order, numbers as they are written', () => {
  for (const { text, cells } of tables.jsonRows) {
    const read = [...(readCells(text) ?? [])];
    expect(read.map(([name]) => name)).toEqual(cells.map(([name]) => name));
    expect(read.map(([, cell], at) => shown(cell, cells[at]?.[1]))).toEqual(cells.map(([, cell]) => cell));
  }
});

it('writes what it has read, without spaces', () => {
  const json = fc.json({ maxDepth: 3 });
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.string(), json)), (entries) => {
      const cells = new Map(entries);
      expect(readCells(writeCells(cells))).toEqual(cells);
    }),
  );
  const row = ' { "2024" : 1.10 ,\n"__proto__":[ 1e400 , "a b" ],"a\\"b": "\\\\" }\n';
  expect(writeCells(readCells(row) ?? [])).toBe('{"2024":1.10,"__proto__":[1e400,"a b"],"a\\"b":"\\\\"}');
});

it('shows texts as they are, nothing for null, and other values as JSON, also those that no text can be made of', () => {
  expect(textsOf('{"a":"x","b":null,"c":{"toString":1,"valueOf":1},"d":false}')).toEqual([
    ['a', 'x'],
    ['b', ''],
    ['c', '{"toString":1,"valueOf":1}'],
    ['d', 'false'],
  ]);
});

it.each(['', '[]', '"x"', 'null', '{"a":}', '{"a":1}}'])('is none of %s', (text) => {
  expect(readCells(text)).toBeUndefined();
});
