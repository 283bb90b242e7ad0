import { expect, test } from 'vitest';

import { longLessShort } from './long-less-short.ts';

const PREFILL_MS = 50;
const STEP_MS = 7;

function run(numSteps: number): { readonly numSteps: number; readonly cpuMs: number } {
  return { numSteps, cpuMs: PREFILL_MS + numSteps * STEP_MS };
}

test('prefill cancels out: the rest is what a step costs', () => {
  expect(longLessShort(run(39), run(7))('cpuMs')).toBe(STEP_MS);
});

test('each total is divided by the steps between the runs', () => {
  const perStep = longLessShort(
    { numSteps: 12, submits: 41, dispatches: 1000 },
    { numSteps: 2, submits: 11, dispatches: 20 },
  );
  expect([perStep('submits'), perStep('dispatches')]).toEqual([3, 98]);
});

test('runs of the same length are refused', () => {
  expect(() => longLessShort(run(7), run(7))).toThrow('more than 7 steps, got 7');
});
