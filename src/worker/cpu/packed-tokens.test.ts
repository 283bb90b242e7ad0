import { describe, expect, it } from 'vitest';
import { CpuMemory } from './memory/cpu-memory.ts';
import { packTokens, passesOf } from './packed-tokens.ts';
import { CpuStateRows } from './memory/state-rows.ts';

const STATE = new CpuStateRows(new CpuMemory(0), []);

/** Rows of 3 and 1 tokens, the second behind 5 others. */
const INPUT = {
  target: 'staging',
  numRows: 2,
  tokensPerRow: 3,
  ids: Int32Array.of(7, 8, 9, 4, 0, 0),
  positions: Int32Array.of(0, 1, 2, 5, 6, 7),
  lastIndices: Int32Array.of(2, 5),
} as const;

describe('packTokens', () => {
  it('leaves padding out', () => {
    const { ids, positions, spans } = packTokens(INPUT, INPUT.ids);
    expect([[...ids], [...positions]]).toEqual([
      [7, 8, 9, 4],
      [0, 1, 2, 5],
    ]);
    expect(spans).toEqual([
      { row: 0, start: 0, numTokens: 3, position: 0 },
      { row: 1, start: 3, numTokens: 1, position: 5 },
    ]);
  });

  it('finds the tokens whose logits are wanted: each once, with the rows in the order of the input', () => {
    const { logitTokens, logitRows } = packTokens({ ...INPUT, scoredTokens: Int32Array.of(0, 2) }, INPUT.ids);
    expect(logitTokens).toEqual([0, 2, 3]);
    expect(logitRows).toEqual([1, 2, 0, 1]);
  });

  it("refuses a token of the padding, which would have the next row's logits", () => {
    const input = { ...INPUT, scoredTokens: Int32Array.of(4) };
    expect(() => packTokens(input, INPUT.ids)).toThrow('Token 4 is padding');
  });
});

describe('passesOf', () => {
  it('cuts rows where a pass is full, and counts logits on', () => {
    const passes = [...passesOf(packTokens(INPUT, INPUT.ids), 2, STATE)].map(({ pass }) => pass);
    expect(passes).toMatchObject([
      { spans: [{ row: 0, start: 0, numTokens: 2, position: 0 }], wantedTokens: [], firstLogitRow: 0 },
      {
        spans: [
          { row: 0, start: 0, numTokens: 1, position: 2 },
          { row: 1, start: 1, numTokens: 1, position: 5 },
        ],
        wantedTokens: [0, 1],
        firstLogitRow: 0,
      },
    ]);
  });
});
