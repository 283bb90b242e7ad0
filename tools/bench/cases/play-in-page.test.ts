import { describe, expect, it } from 'vitest';

import type { StepRecord } from '../../../src/protocol/stats.ts';
import { longestGapOf } from './play-in-page.ts';

const BASE: StepRecord = {
  stepIndex: 0,
  kind: 'decode',
  reason: 'full',
  batchSize: 4,
  numTokens: 4,
  queueLength: 0,
  waitMs: 0,
  outcome: 'ok',
  isBehind: false,
  stepMs: 10,
  runMs: 8,
  readbackMs: 1,
  numGuessedTokens: 0,
  numRightGuesses: 0,
  agoMs: 0,
  slots: [0, 1, 2, 3],
};

describe('longestGapOf', () => {
  it('counts the prefills between two decode steps, in decode steps of as many sequences', () => {
    const prefill: StepRecord = { ...BASE, kind: 'prefill', stepMs: 40 };
    expect(longestGapOf([BASE, prefill, prefill, BASE, BASE])).toEqual({ gapMs: 90, inSteps: 9 });
  });

  it('does not count what comes before the first decode step', () => {
    const prefill: StepRecord = { ...BASE, kind: 'prefill', stepMs: 40 };
    expect(longestGapOf([prefill, BASE])).toEqual({ gapMs: 10, inSteps: 1 });
  });
});
