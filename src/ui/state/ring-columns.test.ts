import { describe, expect, it } from 'vitest';

import { readUntil, RingColumns } from './ring-columns.ts';

const NAMES = ['row', 'tens'] as const;

function createRing(numRows: number, capacity = 3): RingColumns<(typeof NAMES)[number]> {
  const ring = new RingColumns(NAMES, capacity);
  for (let row = 0; row < numRows; row += 1) ring.push([row, row * 10]);
  return ring;
}

function createTimes() {
  const table = new RingColumns(['seconds', 'size'], 3);
  table.push([1, 10]);
  table.push([2, 20]);
  table.push([3]);
  table.push([4, 40]);
  return table;
}

describe('ring columns', () => {
  it('reads one array per column while it is empty', () => {
    expect(createRing(0).read(NAMES)).toEqual([[], []]);
    expect(createRing(0).last('row')).toBeNull();
  });

  it('reads rows in the order they were pushed', () => {
    expect(createRing(2).read(NAMES)).toEqual([
      [0, 1],
      [0, 10],
    ]);
  });

  it.each([3, 4, 5, 6, 7])('keeps the last rows, oldest first, after %i rows', (numRows) => {
    const ring = createRing(numRows);
    expect(ring.length).toBe(3);
    expect(ring.read(NAMES)[0]).toEqual([numRows - 3, numRows - 2, numRows - 1]);
    expect(ring.last('tens')).toBe((numRows - 1) * 10);
  });

  it('keeps gaps', () => {
    const ring = new RingColumns(NAMES, 3);
    ring.push([0]);
    expect(ring.read(NAMES)).toEqual([[0], [null]]);
  });

  it('reads the columns that are asked for, in that order', () => {
    expect(createRing(2).read(['tens', 'row'])).toEqual([
      [0, 10],
      [0, 1],
    ]);
  });

  it('hands out copies', () => {
    const ring = createRing(1);
    ring.read(NAMES)[0]?.push(99);
    expect(ring.read(NAMES)[0]).toEqual([0]);
  });
});

describe('rows up to a time', () => {
  it('are all that are kept where no time is given', () => {
    expect(readUntil(createTimes(), ['size'])).toEqual([[20, null, 40]]);
  });

  it.each([
    { untilSeconds: 3.9, sizes: [20, null] },
    { untilSeconds: 4, sizes: [20, null, 40] },
    { untilSeconds: 1, sizes: [] },
  ])('end with the last one that is no later: $untilSeconds s', ({ untilSeconds, sizes }) => {
    expect(readUntil(createTimes(), ['size'], untilSeconds)).toEqual([sizes]);
  });
});
