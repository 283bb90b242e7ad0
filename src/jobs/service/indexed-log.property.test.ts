import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { StorageQuotaError } from '../../protocol/errors/hub.ts';
import { MemoryFile } from '../../platform/memory-file.ts';
import { IndexedLog, type LogEntry } from './indexed-log.ts';
import { storageFullForJob } from '../../protocol/errors/job-messages.ts';
import { runsOf } from '../../batching/testing/whole-run.ts';

const NUM_RUNS = runsOf({ whole: 500, part: 150 });

const line: fc.Arbitrary<LogEntry> = fc.record({
  key: fc.nat({ max: 12 }),
  text: fc.string({ maxLength: 40, unit: 'grapheme' }).map((text) => JSON.stringify(text)),
  isMarked: fc.boolean(),
});

/** Lines that are written together. */
const groups = fc.array(fc.array(line, { maxLength: 4 }));

function cut(file: MemoryFile, part: number): number {
  const size = Math.floor(file.getSize() * part);
  file.truncate(size);
  return size;
}

/** The texts whose lines a cut log holds whole. */
function survivors(lines: readonly LogEntry[], size: number) {
  const texts = new Map<number, { text: string; mark: number }>();
  let end = 0;
  for (const { key, text, isMarked } of lines) {
    end += new TextEncoder().encode(`${key}. ${text}\n`).byteLength;
    if (end <= size) texts.set(key, { text, mark: isMarked ? 2 : 1 });
  }
  return texts;
}

/** Without the last half of both files, the bytes of the wrong line are as many as those of the log. */
const twoOfOneLength: LogEntry[] = [
  { key: 1, text: '"first"', isMarked: false },
  { key: 0, text: '"later"', isMarked: false },
];

const sort = (texts: ReadonlyMap<number, unknown>) => [...texts].toSorted(([a], [b]) => a - b);

function contentOf(log: IndexedLog) {
  const marks = log.marks(13);
  const reader = log.reader();
  const texts = [...marks].flatMap((mark, key) =>
    mark ? [[key, { text: reader.read(key) ?? '', mark }] as const] : [],
  );
  return new Map(texts);
}

it('loses nothing but the torn last line, wherever a crash cuts the log and its index', () => {
  const part = fc.oneof(fc.constant(1), fc.double({ min: 0, max: 1, noNaN: true }));
  fc.assert(
    fc.property(groups, groups, part, part, (before, later, logPart, indexPart) => {
      const [log, index] = [new MemoryFile(), new MemoryFile()];
      const written = new IndexedLog(log, index);
      for (const group of before) written.append(group);
      const size = cut(log, logPart);
      cut(index, indexPart);
      const recovered = new IndexedLog(log, index);
      const found = contentOf(recovered);
      expect(sort(found)).toEqual(sort(survivors(before.flat(), size)));
      for (const group of later) recovered.append(group);
      const reopened = contentOf(new IndexedLog(log, index));
      const appended = survivors(later.flat(), Infinity);
      expect(sort(reopened)).toEqual(sort(new Map([...found, ...appended])));
    }),
    { numRuns: NUM_RUNS, examples: [[[twoOfOneLength], [], 0.5, 0.5]] },
  );
});

it('is as it was after a write for which there is no room', () => {
  const [log, index] = [new MemoryFile(), new MemoryFile()];
  const indexed = new IndexedLog(log, index);
  indexed.append([{ key: 0, text: '"first"' }]);
  const write = index.write.bind(index);
  index.write = () => {
    throw storageFullForJob('full');
  };
  const group = [1, 0].map((key) => ({ key, text: '"second"' }));
  expect(() => indexed.append(group)).toThrow(StorageQuotaError);
  index.write = write;
  indexed.append([{ key: 1, text: '"again"' }]);
  const reader = indexed.reader();
  expect([reader.read(0), reader.read(1), log.getSize()]).toEqual(['"first"', '"again"', 22]);
});

it('finds lines that are longer than a piece of the file', () => {
  const [log, index] = [new MemoryFile(), new MemoryFile()];
  const long = JSON.stringify('é'.repeat(100_000));
  const written = new IndexedLog(log, index);
  written.append([
    { key: 7, text: long },
    { key: 8, text: '1' },
  ]);
  index.truncate(0);
  log.truncate(log.getSize() - 1);
  const recovered = new IndexedLog(log, index);
  const reader = recovered.reader();
  expect([reader.read(7), reader.read(8), recovered.length]).toEqual([long, undefined, 8]);
});
