import { describe, expect, it } from 'vitest';
import { MergeTable } from './merge-table.ts';

/** A table of these merges, in their order, and a map that says the same. */
function createTable(merges: readonly (readonly [left: number, right: number, id: number])[]) {
  const table = new MergeTable(merges.length);
  const expected = new Map<string, { readonly rank: number; readonly id: number }>();
  for (const [rank, [left, right, id]] of merges.entries()) {
    table.add(left, right, rank, id);
    expected.set(`${left} ${right}`, { rank, id });
  }
  return { table, expected };
}

describe('a table of merges', () => {
  it('finds each pair with its rank and token, and no other pair', () => {
    const numTokens = 90;
    const pairs = Array.from({ length: numTokens * numTokens }, (_, i) => i).filter((i) => i % 3 === 0);
    const { table, expected } = createTable(
      pairs.map((i) => [i % numTokens, Math.floor(i / numTokens), i] as const),
    );
    for (let left = 0; left < numTokens; left++)
      for (let right = 0; right < numTokens; right++)
        expect(table.find(left, right)).toEqual(expected.get(`${left} ${right}`));
  });

  it('takes tokens from 0 to the largest', () => {
    const { MAX_ID } = MergeTable;
    const { table } = createTable([
      [0, 0, 0],
      [MAX_ID, 0, MAX_ID],
      [0, MAX_ID, 1],
    ]);
    expect([table.find(0, 0), table.find(MAX_ID, 0), table.find(0, MAX_ID)]).toEqual([
      { rank: 0, id: 0 },
      { rank: 1, id: MAX_ID },
      { rank: 2, id: 1 },
    ]);
    expect(table.find(MAX_ID, MAX_ID)).toBeUndefined();
  });

  it('has the last one of the same pair, as a map has', () => {
    const { table } = createTable([
      [1, 2, 3],
      [1, 2, 4],
    ]);
    expect(table.find(1, 2)).toEqual({ rank: 1, id: 4 });
  });

  it('without merges finds none', () => {
    expect(createTable([]).table.find(1, 2)).toBeUndefined();
  });
});
