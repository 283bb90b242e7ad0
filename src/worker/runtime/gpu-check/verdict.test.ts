import { describe, expect, it } from 'vitest';
import reference from './reference.json' with { type: 'json' };
import { findWrongValues, type ComputedRow } from './verdict.ts';

const [{ rows: EXPECTED } = { rows: [] }] = reference.cases;
const LENGTHS = EXPECTED.map(({ promptTokenIds }) => promptTokenIds.length);

/** The values of a GPU that computes right; row i is at place i of each batch. */
const RIGHT: readonly ComputedRow[] = EXPECTED.map(({ steps }, place) => ({
  isNaN: false,
  place,
  tokens: steps.map(([tokenId = -1, ...top]) => ({
    tokenId,
    place,
    top: top.map((logprob, rank) => ({ tokenId: rank, logprob })),
  })),
}));

type Change = (row: ComputedRow, index: number) => ComputedRow;

const verdictOn = (change: Change, precision: 'float16' | 'float32' = 'float32') =>
  findWrongValues(EXPECTED, RIGHT.map(change), precision);

/** All logprobs off by this from a token of the row on. */
function shifted(row: ComputedRow, by: number, from = 0): ComputedRow {
  const tokens = row.tokens.map((token, i) =>
    i < from ? token : { ...token, top: token.top.map((top) => ({ ...top, logprob: top.logprob + by })) },
  );
  return { ...row, tokens };
}

const wherePrompts =
  (isWrong: (length: number) => boolean): Change =>
  (row, i) =>
    isWrong(LENGTHS[i] ?? 0) ? shifted(row, 1) : row;

describe('findWrongValues', () => {
  it('finds nothing in the values of the reference', () => {
    expect(verdictOn((row) => row)).toBeUndefined();
  });

  it('allows what fp16 rounds, and not in fp32', () => {
    expect(verdictOn((row) => shifted(row, 0.03), 'float16')).toBeUndefined();
    expect(verdictOn((row) => shifted(row, 0.03), 'float32')).toBe('prompts of any length');
    expect(verdictOn((row) => shifted(row, 0.06), 'float16')).toBe('prompts of any length');
  });

  it.each([
    ['prompts of 33 tokens and more', wherePrompts((length) => length >= 33)],
    ['prompts of 130 tokens and more', wherePrompts((length) => length === 130)],
    ['prompts of 1, 64 tokens', wherePrompts((length) => length === 1 || length === 64)],
    ['prompts of any length', wherePrompts(() => true)],
    [
      'prompts of 130 tokens and more, tokens after the first',
      ((row, i) => shifted(row, 1, LENGTHS[i] === 130 ? 0 : 1)) satisfies Change,
    ],
    ['tokens after the first', ((row) => shifted(row, 1, 2)) satisfies Change],
    [
      'tokens after the first',
      ((row, i) => shifted(row, 1, i === RIGHT.length - 1 ? 0 : 1)) satisfies Change,
    ],
    ['single rows of a batch', ((row, i) => (i === 2 || i === 4 ? shifted(row, 1) : row)) satisfies Change],
    ['row 3 of a batch', ((row, i) => (i === 2 ? shifted(row, 1, 4) : row)) satisfies Change],
  ] as const)('names what is wrong: %s', (where, change) => {
    expect(verdictOn(change)).toBe(where);
  });

  it('finds another token, though the largest logprobs are right', () => {
    expect(
      verdictOn((row, i) =>
        i === 5 ? { ...row, tokens: row.tokens.map((token) => ({ ...token, tokenId: 1e6 })) } : row,
      ),
    ).toBe('row 6 of a batch');
  });

  it('finds rows without tokens, because their logits are not numbers', () => {
    expect(verdictOn((row) => ({ ...row, tokens: [], isNaN: true }))).toBe(
      'not a number: prompts of any length',
    );
  });

  it('finds a row that ends too early', () => {
    expect(verdictOn((row, i) => (i === 3 ? { ...row, tokens: row.tokens.slice(0, 2) } : row))).toBe(
      'row 4 of a batch',
    );
  });
});
