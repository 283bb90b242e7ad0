import { expect, it } from 'vitest';

import type { LoggedRequest } from '../../../client/index.ts';
import { createTabs } from '../../testing/test-support.ts';
import { describeCaller, describeOutcome, describePrompt, hasFailed } from './describe-logged.ts';

const REQUEST: LoggedRequest = { number: 1, endedAtMs: 0, deployment: 'text-generator', durationMs: 1 };
const { tabs } = createTabs(1, 2);

it.each([
  ['this tab', { tab: 1 }, 'Tab 1, this one'],
  ['another tab', { tab: 2 }, 'Tab 2'],
  ['a tab that is closed', { tab: 3 }, 'Tab 3, closed'],
  ['a program on this machine', { caller: ['loopback', '', ''] }, 'HTTP, this machine'],
  [
    'a program elsewhere, by its key and user',
    { caller: ['10.0.0.7', 'abcdef', '123456'] },
    'HTTP, 10.0.0.7, key abcd, user 1234',
  ],
  ['the row of a job', {}, 'Jobs'],
])('names %s', (_, sender, name) => {
  expect(describeCaller({ ...REQUEST, ...sender }, tabs)).toBe(name);
});

it.each([
  [{}, '–'],
  [{ numPromptTokens: 1200 }, '1,200'],
  [{ numPromptTokens: 1200, numCachedTokens: 96 }, '1,200, 96 reused'],
])('says what was read: %j is %s', (tokens, text) => {
  expect(describePrompt({ ...REQUEST, ...tokens })).toBe(text);
});

it.each([
  ['Done', {}, false],
  ['Done', { finishReason: 'stop' as const }, false],
  ['Done, at its limit', { finishReason: 'length' as const }, false],
  ['Stopped', { error: { code: 'REQUEST_CANCELLED', message: '' } }, false],
  ['Failed: EMPTY_PROMPT', { error: { code: 'EMPTY_PROMPT', message: '' } }, true],
])('says how it ended: %s', (text, end, isFailure) => {
  expect(describeOutcome({ ...REQUEST, ...end })).toBe(text);
  expect(hasFailed({ ...REQUEST, ...end })).toBe(isFailure);
});
