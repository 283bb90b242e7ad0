import { describe, expect, it } from 'vitest';
import { Guesses } from './guesses.ts';
import { Sequence } from './sequence.ts';
import { allowToken, emptyMask, isAllowed } from '../sampling/token-mask.ts';
import type { Lookahead, TokenConstraint } from './request.ts';
import { createRequest, type RequestOverrides } from './test-support.ts';

/** Ends as it begins, and has found its last 12 tokens there: so it is almost sure of what comes. */
const REPEATED = [
  ...Array.from({ length: 40 }, (_, i) => 100 + i),
  ...Array.from({ length: 3 }, (_, i) => 100 + i),
];
const FOUND = Array.from({ length: 12 }, (_, i) => 103 + i);

function sequenceOf(overrides: RequestOverrides = {}): Sequence {
  return new Sequence(
    createRequest('a', {
      promptTokenIds: REPEATED,
      resumedTokenIds: FOUND,
      maxNewTokens: 100,
      ...overrides,
    }),
    0,
  );
}

/** Guesses on a device where a step costs 10 ms, and each further token this much. */
function guessesAt(tokenMs: number, maxTokens = 100): Guesses {
  const guesses = new Guesses(maxTokens);
  for (const numTokens of [1, 2, 9]) guesses.measure(numTokens, 10 + (numTokens - 1) * tokenMs);
  return guesses;
}

function numGuessed(guesses: Guesses, ...sequences: readonly Sequence[]): number[] {
  const chosen = guesses.choose(sequences, 1000);
  return sequences.map((sequence) => chosen.get(sequence)?.guessedTokenIds?.length ?? 0);
}

describe('a step', () => {
  it('checks the tokens that stood there before', () => {
    const sequence = sequenceOf();
    const { guessedTokenIds } = guessesAt(0).choose([sequence], 1000).get(sequence) ?? {};
    expect(guessedTokenIds?.slice(0, 3)).toEqual([115, 116, 117]);
  });

  it('checks fewer the more they cost, and none that cost as much as a step', () => {
    const [free = 0, cheap = 0, dear = 0, dearest = 0] = [0, 1, 8, 10].flatMap((tokenMs) =>
      numGuessed(guessesAt(tokenMs), sequenceOf()),
    );
    expect(free).toBe(15);
    expect(cheap).toBeLessThanOrEqual(free);
    expect(dear).toBeLessThan(cheap);
    expect(dear).toBeGreaterThan(0);
    expect(dearest).toBe(0);
  });

  it('checks fewer where guesses have failed', () => {
    const failing = sequenceOf({ resumedTokenIds: [103, 104, 9, 101, 102, 8, 101, 102] });
    const [num = 0] = numGuessed(guessesAt(1), failing);
    expect(num).toBeLessThan(numGuessed(guessesAt(1), sequenceOf())[0] ?? 0);
    expect(numGuessed(guessesAt(5), failing)).toEqual([0]);
  });

  it('checks no more than the device can, those of the surest sequences first', () => {
    const unsure = sequenceOf({ resumedTokenIds: [103] });
    expect(numGuessed(guessesAt(0, 4), unsure, sequenceOf())).toEqual([0, 4]);
    expect(numGuessed(guessesAt(0, 0), sequenceOf())).toEqual([0]);
  });

  it('checks no token behind the last one that a sequence may have', () => {
    expect(numGuessed(guessesAt(0), sequenceOf({ maxNewTokens: FOUND.length + 4 }))).toEqual([3]);
    expect(numGuessed(guessesAt(0), sequenceOf({ maxNewTokens: FOUND.length + 1 }))).toEqual([0]);
  });

  it('checks none behind a mask of which it knows no more than the next token', () => {
    const open: TokenConstraint = { accept: () => false };
    const blind = { ...open, mask: () => emptyMask(1000).fill(-1) };
    expect(numGuessed(guessesAt(0), sequenceOf({ constraint: blind }))).toEqual([0]);
    expect(numGuessed(guessesAt(0), sequenceOf({ constraint: open }))).toEqual([15]);
  });
});

/** Allows these tokens alone, each list in its place; a list of one forces it. Behind them, none. */
function allowing(...places: readonly (readonly number[])[]): TokenConstraint {
  const aheadAt = (index: number): Lookahead | undefined => {
    const allowed = places[index];
    if (!allowed) return undefined;
    const mask = emptyMask(1000);
    for (const tokenId of allowed) allowToken(mask, tokenId);
    const forced = allowed.length === 1 ? allowed[0] : undefined;
    return { mask, forced, after: () => aheadAt(index + 1) };
  };
  return { accept: () => false, mask: () => aheadAt(0)?.mask, ahead: () => aheadAt(0) };
}

/** A sequence that has nothing to repeat. */
const FRESH = { promptTokenIds: [1, 2, 3, 4], resumedTokenIds: [] };

function guessedOf(tokenMs: number, constraint: TokenConstraint, overrides?: RequestOverrides) {
  const sequence = sequenceOf({ constraint, ...overrides });
  return guessesAt(tokenMs).choose([sequence], 1000).get(sequence)?.guessedTokenIds ?? [];
}

describe('behind a mask, a step', () => {
  it('checks the tokens that it forces, unless they cost almost as much as steps', () => {
    const forcing = allowing([7], [8], [9], [5, 6], [5]);
    expect(guessedOf(0, forcing, FRESH)).toEqual([7, 8, 9]);
    expect(guessedOf(5, forcing, FRESH)).toEqual([7, 8, 9]);
    expect(guessedOf(9.5, forcing, FRESH)).toEqual([]);
  });

  it('tries forced tokens again that one slow step has made dear, and no guesses', () => {
    const guesses = guessesAt(9.5);
    guesses.measure(9, 5000);
    const forced = sequenceOf({ constraint: allowing([7], [8], [9], [5, 6], [5]), ...FRESH });
    const numsOf = (sequence: Sequence) =>
      Array.from(
        { length: 9 },
        () => guesses.choose([sequence], 1000).get(sequence)?.guessedTokenIds?.length ?? 0,
      );
    expect(numsOf(sequenceOf())).toEqual(Array(9).fill(0));
    expect(numsOf(forced)).toEqual([0, 0, 0, 0, 0, 0, 0, 3, 0]);
    guesses.measure(9, 15);
    expect(numsOf(forced)).toEqual(Array(9).fill(3));
  });

  it('checks repeated tokens up to one that it forbids', () => {
    expect(guessedOf(0, allowing([1, 115], [2, 116], [3, 4], [5, 118]))).toEqual([115, 116]);
  });

  it('goes the way of forced tokens, and behind them on with repeated ones where these are the same', () => {
    expect(guessedOf(0, allowing([1, 115], [116], [2, 117], [3, 4]))).toEqual([115, 116, 117]);
    expect(guessedOf(0, allowing([1, 115], [7], [2, 117], [3, 4]))).toEqual([115, 7]);
  });

  it('checks no token with which the text ends, since nothing is sampled behind it', () => {
    expect(guessedOf(0, allowing([7], [8]), FRESH)).toEqual([7]);
  });

  it('has the mask behind each guess', () => {
    const sequence = sequenceOf({ ...FRESH, constraint: allowing([7], [8], [5, 6]) });
    const { guessedMasks = [] } = guessesAt(0).choose([sequence], 1000).get(sequence) ?? {};
    const allowed = guessedMasks.map((mask) =>
      [5, 6, 7, 8].filter((tokenId) => mask && isAllowed(mask, tokenId)),
    );
    expect(allowed).toEqual([[8], [5, 6]]);
  });
});
