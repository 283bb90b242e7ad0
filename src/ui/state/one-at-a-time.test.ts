import { beforeEach, describe, expect, it, vi } from 'vitest';

import { createStatus, createStepRecord, MODEL } from '../testing/test-support.ts';
import { timesOneAtATime } from './one-at-a-time.ts';

const STATUS = createStatus();

function steps(count: number, batchSize: number, stepMs: number, kind: 'prefill' | 'decode' = 'decode') {
  return Array.from({ length: count }, (_, stepIndex) => ({
    ...createStepRecord({ kind, batchSize, stepMs, stepIndex }),
    serialIndex: stepIndex,
  }));
}

describe('the estimate of one prompt at a time', () => {
  beforeEach(() => {
    const stored = new Map<string, string>();
    vi.stubGlobal('localStorage', {
      getItem: (key: string) => stored.get(key) ?? null,
      setItem: (key: string, text: string) => stored.set(key, text),
    });
    return () => vi.unstubAllGlobals();
  });

  it('takes the median step of one row for each row, and the same time to read the prompts', () => {
    const run = [...steps(1, 8, 20, 'prefill'), ...steps(10, 8, 12), ...steps(9, 1, 4), ...steps(1, 1, 44)];
    // Together 20 + 120 + 40 ms, one at a time 20 + 10 · 8 · 4 + 10 · 4 ms: what took 44 ms was not the model.
    expect(timesOneAtATime(STATUS, run)).toBeCloseTo(380 / 180);
  });

  it('is unknown until steps of one row were measured, and takes what an earlier run has measured', () => {
    const together = steps(10, 8, 12);
    expect(timesOneAtATime(STATUS, [...together, ...steps(3, 1, 4)])).toBeUndefined();
    timesOneAtATime(STATUS, steps(8, 1, 6));
    expect(timesOneAtATime(STATUS, together)).toBe(4);
  });

  it('is not made of the steps of two workers', () => {
    timesOneAtATime(STATUS, steps(8, 1, 6));
    const before = steps(10, 8, 12);
    const after = before.map((step) => ({ ...step, serialIndex: step.stepIndex + before.length }));
    expect(timesOneAtATime(STATUS, after)).toBe(4);
    expect(timesOneAtATime(STATUS, [...before, ...after])).toBeUndefined();
  });

  it('keeps models apart, and counts no step with guessed tokens as one row', () => {
    timesOneAtATime(STATUS, steps(8, 1, 6));
    const model = { ...MODEL, id: 'another' };
    const other = createStatus({ model });
    expect(timesOneAtATime(other, steps(10, 8, 12))).toBeUndefined();
    const guessed = steps(8, 1, 9).map((step) => ({ ...step, numTokens: 4 }));
    expect(timesOneAtATime(other, guessed)).toBeUndefined();
  });
});
