import { describe, expect, it } from 'vitest';
import type { StepRecord } from '../../protocol/stats.ts';
import { longestPauseIn, rateOf } from './rates.ts';

function step(kind: StepRecord['kind'], batchSize: number, stepMs: number): StepRecord {
  return {
    kind,
    batchSize,
    stepMs,
    reason: 'idle',
    numTokens: batchSize,
    queueLength: 0,
    waitMs: 0,
    outcome: 'ok',
    stepIndex: 0,
    isBehind: false,
    runMs: 0,
    readbackMs: 0,
    agoMs: 0,
    slots: [],
    numGuessedTokens: 0,
    numRightGuesses: 0,
  };
}

describe('tokens in a second', () => {
  it('are those of the median step, so that one slow step changes nothing', () => {
    const steps = [10, 10, 10, 500, 10].map((ms) => step('decode', 4, ms));
    expect(rateOf(steps, 4)).toBe(400);
  });

  it('count steps of exactly so many texts: no prefill, and none with texts of others', () => {
    const steps = [step('prefill', 4, 1), step('decode', 5, 1), step('decode', 3, 1), step('decode', 4, 20)];
    expect(rateOf(steps, 4)).toBe(200);
  });

  it('are unknown where the size never ran', () => {
    expect(rateOf([step('decode', 3, 1)], 4)).toBeUndefined();
  });
});

describe('the longest pause', () => {
  it('is from token to token, with the pieces of prompts that were read in between', () => {
    const decode = step('decode', 8, 5);
    const piece = step('prefill', 1, 30);
    expect(longestPauseIn([decode, piece, decode, piece, piece, decode], 8)).toBe(65);
  });

  it('leaves out the prompts of the texts themselves', () => {
    const [first, decode] = [step('prefill', 8, 300), step('decode', 8, 5)];
    expect(longestPauseIn([first, decode, decode], 8)).toBeUndefined();
    const part = step('decode', 4, 5);
    expect(longestPauseIn([first, part, first, decode, decode], 8), 'while not all run').toBeUndefined();
  });
});
