import { expect, it } from 'vitest';

import { describeFigures, describeMore, describeSpeed, describeState } from './describe-request.ts';
import { createRequest } from '../../testing/test-support.ts';

it.each([
  ['Waiting', { status: 'waiting' }],
  ['Running', { status: 'running' }],
  ['Stopped', { status: 'cancelled' }],
  ['Failed', { status: 'failed' }],
  ['Cut at 64 tokens', { finishReason: 'length' }],
  ['Cut at 1 token', { finishReason: 'length', numOutputTokens: 1 }],
  ['Done: end of text', { finishReason: 'stop', isStopped: false }],
  ['Done: the model ends here', { finishReason: 'stop', isStopped: false, numOutputTokens: 1 }],
  ['Done: stop string', { finishReason: 'stop', isStopped: true }],
  ['Done: the JSON is complete', { finishReason: 'stop', isStopped: true, generatedTexts: [' {"a": [1]}'] }],
  ['Done: 4 texts', { generatedTexts: ['a', 'b', 'c', 'd'] }],
] as const)('says %s', (text, change) => {
  expect(describeState(createRequest('a', change))).toBe(text);
});

it.each([
  ['Cut at 64 tokens', 447],
  ['Context full (512 of 512)', 448],
])('says %s after a prompt of %i tokens', (text, numPromptTokens) => {
  expect(describeState(createRequest('a', { finishReason: 'length', numPromptTokens }), 512)).toBe(text);
});

it('says of another tab’s request whether it was cut, and not what else ended it, which is not reported', () => {
  const { isStopped: _isStopped, ...request } = createRequest('a');
  expect(describeState({ ...request, finishReason: 'stop' })).toBe('Done');
  expect(describeState({ ...request, finishReason: 'length' })).toBe('Cut at 64 tokens');
});

it('has the figures that are known, in one order', () => {
  expect(describeFigures({ numOutputTokens: 0 })).toBe('');
  expect(describeFigures({ numOutputTokens: 64, ttftMs: 1234 })).toBe('TTFT 1.2 s · 64 tokens');
  expect(describeMore({ queueWaitMs: 3.4 })).toBe(' · wait 3 ms');
  expect(describeMore({ queueWaitMs: 3.4, seed: 7 })).toBe(' · wait 3 ms · seed 7');
});

it('has no speed before the second token', () => {
  expect(describeSpeed({})).toBe('');
  expect(describeSpeed({ tokensPerSecond: 142.4 })).toBe(' · 142/s');
});
