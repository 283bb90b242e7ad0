import { describe, expect, it } from 'vitest';
import { PartFile } from './part-file.ts';
import { OpfsFile } from './test-support.ts';

const SIZE = 100;
const WHOLE = [{ begin: 0, end: SIZE }];

function createFiles() {
  const data = new OpfsFile();
  const journal = new OpfsFile();
  return { data, journal, open: () => new PartFile(data, journal, SIZE) };
}

function fill(part: PartFile, begin: number, end: number): void {
  part.write(begin, new Uint8Array(end - begin).fill(begin));
  part.record({ begin, end });
}

describe('PartFile', () => {
  it('misses, when it is opened again, what was not recorded', () => {
    const { open } = createFiles();
    const before = open();
    fill(before, 10, 30);
    fill(before, 60, 61);
    before.write(61, Uint8Array.of(1));
    expect(open().missing(WHOLE)).toEqual([
      { begin: 0, end: 10 },
      { begin: 30, end: 60 },
      { begin: 61, end: SIZE },
    ]);
  });

  it('misses nothing outside what is wanted', () => {
    const { open } = createFiles();
    const part = open();
    fill(part, 0, 50);
    expect(part.missing([{ begin: 40, end: 60 }])).toEqual([{ begin: 50, end: 60 }]);
    expect(part.missing([{ begin: 0, end: 50 }])).toEqual([]);
  });

  it('reads what was written at its place, and zeros where nothing is', () => {
    const part = createFiles().open();
    fill(part, 2, 4);
    expect([...part.read(1, 6)]).toEqual([0, 2, 2, 0, 0]);
  });

  it('takes a torn last record of the journal for not written', () => {
    const { journal, open } = createFiles();
    const part = open();
    fill(part, 0, 10);
    fill(part, 20, 30);
    journal.truncate(journal.getSize() - 1);
    expect(open().missing(WHOLE)).toEqual([{ begin: 10, end: SIZE }]);
  });

  it('takes records that cannot be for not written', () => {
    const { data, journal, open } = createFiles();
    data.truncate(SIZE);
    const records = Float64Array.of(0, SIZE + 1, 7, 3, -1, 2, 0.5, 2, Number.NaN, 2, 4, 6);
    journal.write(new Uint8Array(records.buffer), { at: 0 });
    expect(open().missing(WHOLE)).toEqual([
      { begin: 0, end: 4 },
      { begin: 6, end: SIZE },
    ]);
  });

  it('misses everything once its data is gone', () => {
    const { data, open } = createFiles();
    fill(open(), 0, 50);
    data.truncate(0);
    expect(open().missing(WHOLE)).toEqual(WHOLE);
  });

  it('keeps its journal short, however often it is opened', () => {
    const { journal, open } = createFiles();
    for (let begin = 0; begin < SIZE; begin++) fill(open(), begin, begin + 1);
    open();
    expect(journal.getSize()).toBe(16);
  });
});
