import { expect, it } from 'vitest';

import { describeFigures, describeSpeed, describeState } from './describe-request.ts';
import { createRequest } from '../test-support.ts';

it.each([
  ['Waiting', { status: 'waiting' }],
  ['Running', { status: 'running' }],
  ['Stopped', { status: 'cancelled' }],
  ['Failed', { status: 'failed' }],
  ['Done: reached 64 tokens', { finishReason: 'length' }],
  ['Done: reached 1 token', { finishReason: 'length', numOutputTokens: 1 }],
  ['Done: end of text', { finishReason: 'stop' }],
  ['Done: stop string', { finishReason: 'stop', isStopped: true }],
  ['Done: 4 texts', { generatedTexts: ['a', 'b', 'c', 'd'] }],
  ['Done: the text ends here', { finishReason: 'stop', generatedTexts: [''] }],
] as const)('says %s', (text, change) => {
  expect(describeState(createRequest('a', change))).toBe(text);
});

it('names no reason for the end of another tab’s request, which is not reported', () => {
  const { finishReason: _finishReason, ...request } = createRequest('a');
  expect(describeState(request)).toBe('Done');
});

it('has the figures that are known, in one order', () => {
  expect(describeFigures({ numOutputTokens: 0 })).toBe('');
  expect(describeFigures({ numOutputTokens: 0, queueWaitMs: 3.4 })).toBe('wait 3 ms');
  const whole = { numOutputTokens: 64, queueWaitMs: 3.4, ttftMs: 1234 };
  expect(describeFigures(whole)).toBe('TTFT 1.2 s · 64 tokens · wait 3 ms');
});

it('has no speed before the second token', () => {
  expect(describeSpeed({})).toBe('');
  expect(describeSpeed({ tokensPerSecond: 142.4 })).toBe(' · 142/s');
});
