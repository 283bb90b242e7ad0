import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { StorageQuotaError } from '../../protocol/errors/hub.ts';
import { MemoryFile } from '../models/store/test-support.ts';
import { IndexedLog } from './indexed-log.ts';
import { storageFull } from '../models/store/store-errors.ts';

const NUM_RUNS = Number(process.env['PROPERTY_RUNS'] ?? 500);

interface Written {
  readonly key: number;
  readonly text: string;
  readonly isMarked: boolean;
}

const line: fc.Arbitrary<Written> = fc.record({
  key: fc.nat({ max: 12 }),
  text: fc.string({ maxLength: 40, unit: 'grapheme' }).map((text) => JSON.stringify(text)),
  isMarked: fc.boolean(),
});

function cut(file: MemoryFile, part: number): number {
  const size = Math.floor(file.getSize() * part);
  file.truncate(size);
  return size;
}

/** The texts whose lines a cut log holds whole. */
function survivors(lines: readonly Written[], size: number) {
  const texts = new Map<number, { text: string; mark: number }>();
  let end = 0;
  for (const { key, text, isMarked } of lines) {
    end += new TextEncoder().encode(`${key}. ${text}\n`).byteLength;
    if (end <= size) texts.set(key, { text, mark: isMarked ? 2 : 1 });
  }
  return texts;
}

const sort = (texts: ReadonlyMap<number, unknown>) => [...texts].toSorted(([a], [b]) => a - b);

function contentOf(log: IndexedLog) {
  const marks = log.marks(13);
  const texts = [...marks].flatMap((mark, key) =>
    mark ? [[key, { text: log.read(key) ?? '', mark }] as const] : [],
  );
  return new Map(texts);
}

it('loses nothing but the torn last line, wherever a crash cuts the log and its index', () => {
  const part = fc.oneof(fc.constant(1), fc.double({ min: 0, max: 1, noNaN: true }));
  fc.assert(
    fc.property(fc.array(line), fc.array(line), part, part, (lines, later, logPart, indexPart) => {
      const [log, index] = [new MemoryFile(), new MemoryFile()];
      const written = new IndexedLog(log, index);
      for (const { key, text, isMarked } of lines) written.append(key, text, isMarked);
      const size = cut(log, logPart);
      cut(index, indexPart);
      const recovered = new IndexedLog(log, index);
      const found = contentOf(recovered);
      expect(sort(found)).toEqual(sort(survivors(lines, size)));
      for (const { key, text, isMarked } of later) recovered.append(key, text, isMarked);
      const reopened = contentOf(new IndexedLog(log, index));
      const appended = survivors(later, Infinity);
      expect(sort(reopened)).toEqual(sort(new Map([...found, ...appended])));
    }),
    { numRuns: NUM_RUNS },
  );
});

it('is as it was after a write for which there is no room', () => {
  const [log, index] = [new MemoryFile(), new MemoryFile()];
  const indexed = new IndexedLog(log, index);
  indexed.append(0, '"first"');
  const write = index.write.bind(index);
  index.write = () => {
    throw storageFull('full');
  };
  expect(() => indexed.append(1, '"second"')).toThrow(StorageQuotaError);
  index.write = write;
  indexed.append(1, '"again"');
  expect([indexed.read(0), indexed.read(1), log.getSize()]).toEqual(['"first"', '"again"', 22]);
});

it('finds lines that are longer than a piece of the file', () => {
  const [log, index] = [new MemoryFile(), new MemoryFile()];
  const long = JSON.stringify('é'.repeat(100_000));
  const written = new IndexedLog(log, index);
  written.append(7, long);
  written.append(8, '1');
  index.truncate(0);
  log.truncate(log.getSize() - 1);
  const recovered = new IndexedLog(log, index);
  expect([recovered.read(7), recovered.read(8), recovered.length]).toEqual([long, undefined, 8]);
});
