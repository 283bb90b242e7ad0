import { expect, it } from 'vitest';

import type { Sender } from '../../state/sender.ts';
import { createTabs } from '../../testing/test-support.ts';
import { describeOver, describeRunning } from './run-text.ts';

const RUNNING = {
  numRequests: 9,
  numBySender: new Map(),
  tabs: createTabs(1, 2).tabs,
  numRunning: 7,
  numWaiting: 0,
  elapsedMs: 420,
  isLoading: false,
  timesFaster: undefined,
};

const OVER = {
  numRequests: 9,
  numBySender: new Map(),
  tabs: createTabs(1, 2).tabs,
  elapsedMs: 610,
  peakBatchSize: 8,
  tokensPerSecond: 900,
  ttftMs: undefined,
  itlMs: undefined,
  stall: undefined,
  guesses: undefined,
  queueWaitMs: undefined,
  e2eMs: undefined,
};

const FOREIGN = new Map<Sender, number>([
  [2, 3],
  ['HTTP', 1],
]);

const MEASURED = { togetherMs: 600, oneAtATimeMs: 2100, hasSameTexts: true };

it('counts what runs and what waits', () => {
  expect(describeRunning(RUNNING)).toBe('7 of 9 running · 0.4 s');
  expect(describeRunning({ ...RUNNING, numWaiting: 1 })).toBe('7 of 9 running, 1 waiting · 0.4 s');
  expect(describeRunning({ ...RUNNING, numBySender: FOREIGN })).toBe(
    '7 of 9 running (3 from Tab 2; 1 from HTTP) · 0.4 s',
  );
});

it('estimates how much faster that is until a comparison has measured it, if anyone can notice', () => {
  expect(describeRunning({ ...RUNNING, timesFaster: 2.13 })).toBe(
    '7 of 9 running · 0.4 s · 2.1× faster than one at a time (estimated)',
  );
  expect(describeOver(OVER, 2.13)).toBe(
    '9 prompts in 0.6 s, up to 8 together. 2.1× faster than one at a time (estimated).',
  );
  for (const timesFaster of [1.02, 0.6])
    expect(describeOver(OVER, timesFaster)).toBe('9 prompts in 0.6 s, up to 8 together.');
});

it('shows no time while nothing runs, because nothing would move it', () => {
  const waiting = { ...RUNNING, numRunning: 0, numWaiting: 9 };
  expect(describeRunning(waiting)).toBe('9 waiting');
  expect(describeRunning({ ...waiting, isLoading: true })).toBe('9 waiting for the model');
});

it('says that a run which is too long to be read whole counts its newest', () => {
  const counts = { ...OVER, numRequests: 400, numBySender: new Map<Sender, number>([['Jobs', 400]]) };
  expect(describeOver({ ...counts, isPart: true })).toBe(
    'The newest 400 prompts (400 from Jobs) in 0.6 s, up to 8 together.',
  );
});

it('says how many ran together and how long they took', () => {
  expect(describeOver(OVER)).toBe('9 prompts in 0.6 s, up to 8 together.');
  expect(describeOver({ ...OVER, numRequests: 1, peakBatchSize: 1 })).toBe('1 prompt in 0.6 s.');
  expect(describeOver({ ...OVER, peakBatchSize: undefined }), 'a server').toBe('9 prompts in 0.6 s.');
});

it('says what prompt lookup has saved, if anyone can notice', () => {
  const guesses = { numGuessed: 652, numRight: 495, tokensPerStep: 2.125 };
  expect(describeOver({ ...OVER, guesses })).toBe(
    '9 prompts in 0.6 s, up to 8 together. Prompt lookup guessed 495 of 652 tokens right: 2.13 tokens a step.',
  );
  const few = { numGuessed: 6, numRight: 1, tokensPerStep: 1.01 };
  expect(describeOver({ ...OVER, guesses: few })).toBe('9 prompts in 0.6 s, up to 8 together.');
});

it('says which pause of running texts was prevented, where one would have been seen', () => {
  expect(describeOver({ ...OVER, stall: { gapMs: 92, unsplitMs: 1500 } })).toBe(
    '9 prompts in 0.6 s, up to 8 together. New prompts were read in pieces: running texts paused for at most 92 ms, in one step it would have been 1.5 s.',
  );
  for (const stall of [
    { gapMs: 9, unsplitMs: 90 },
    { gapMs: 92, unsplitMs: 130 },
  ])
    expect(describeOver({ ...OVER, stall })).toBe('9 prompts in 0.6 s, up to 8 together.');
});

it('has the times of a comparison of the same prompts, in place of the run’s own', () => {
  expect(describeOver({ ...OVER, elapsedMs: 900 }, 3, MEASURED)).toBe(
    '9 prompts, 3.5× faster together, same texts: 0.6 s, one at a time 2.1 s.',
  );
});

it('claims no gain where there is none', () => {
  expect(describeOver(OVER, undefined, { togetherMs: 610, oneAtATimeMs: 620, hasSameTexts: true })).toMatch(
    /One at a time took 0\.6 s\.$/,
  );
});

it('compares nothing where other tabs had a part in the run', () => {
  expect(describeOver({ ...OVER, numBySender: FOREIGN }, undefined, MEASURED)).toBe(
    '9 prompts (3 from Tab 2; 1 from HTTP) in 0.6 s, up to 8 together.',
  );
});
