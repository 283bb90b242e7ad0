import { describe, expect, it } from 'vitest';
import { Guesses } from './guesses.ts';
import { Sequence } from './sequence.ts';
import { createRequest, ScriptedConstraint, type RequestOverrides } from './test-support.ts';

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
  return sequences.map((sequence) => chosen.get(sequence)?.length ?? 0);
}

describe('a step', () => {
  it('checks the tokens that stood there before', () => {
    const sequence = sequenceOf();
    expect(guessesAt(0).choose([sequence], 1000).get(sequence)?.slice(0, 3)).toEqual([115, 116, 117]);
  });

  it('checks fewer the more they cost, and none that cost as much as a step', () => {
    const [free = 0, cheap = 0, dear = 0, dearest = 0] = [0, 1, 9, 10].flatMap((tokenMs) =>
      numGuessed(guessesAt(tokenMs), sequenceOf()),
    );
    expect(free).toBe(15);
    expect(cheap).toBeLessThanOrEqual(free);
    expect(dear).toBeLessThan(cheap);
    expect(dear).toBeGreaterThan(0);
    expect(dearest).toBe(0);
  });

  it('checks fewer where guesses have failed', () => {
    const failing = sequenceOf({ resumedTokenIds: [103, 104, 9, 100, 101, 102, 8, 100, 101, 102] });
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

  it('checks none behind a mask, which hangs on each token', () => {
    expect(numGuessed(guessesAt(0), sequenceOf({ constraint: new ScriptedConstraint() }))).toEqual([0]);
    expect(numGuessed(guessesAt(0), sequenceOf({ constraint: { accept: () => false } }))).toEqual([15]);
  });
});
