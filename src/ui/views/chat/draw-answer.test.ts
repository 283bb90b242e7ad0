import { expect, it } from 'vitest';
import { describeAnswer } from './draw-answer.ts';

it('keeps a number and its unit on one line', () => {
  const end = { status: 'cancelled', numOutputTokens: 298, ttftMs: 3300 } as const;
  expect(describeAnswer(end)).toBe('Stopped · TTFT 3.3\u00A0s · 298\u00A0tokens');
});

it('says how an answer ended, how fast it was, and what it reused', () => {
  const end = {
    status: 'finished',
    finishReason: 'stop',
    isStopped: false,
    numOutputTokens: 87,
    tokensPerSecond: 42.1,
    ttftMs: 120,
    numPromptTokens: 52,
    numCachedTokens: 31,
  } as const;
  expect(describeAnswer(end)).toBe(
    'Done: end of text · 42.1/s · TTFT 120\u00A0ms · 87\u00A0tokens · 31 of 52 prompt tokens reused',
  );
});

it('leaves out what isn’t known, and a reuse of nothing', () => {
  expect(describeAnswer({ status: 'waiting', numOutputTokens: 0 })).toBe('Waiting');
  const end = { status: 'cancelled', numOutputTokens: 1, numPromptTokens: 9, numCachedTokens: 0 } as const;
  expect(describeAnswer(end)).toBe('Stopped · 1\u00A0token');
});

it('says that an answer was stopped because it repeated itself', () => {
  const end = { status: 'cancelled', isLoop: true, numOutputTokens: 90 } as const;
  expect(describeAnswer(end)).toBe('Stopped: it repeated itself · 90\u00A0tokens');
});

it('tells a full context from a limit', () => {
  const end = { status: 'finished', finishReason: 'length', numOutputTokens: 192 } as const;
  const numPromptTokens = 8000;
  expect(describeAnswer({ ...end, numPromptTokens, contextLength: 8192 })).toMatch(
    /^Context full \(8,192 of 8,192\)/,
  );
  expect(describeAnswer({ ...end, numPromptTokens, contextLength: 9000 })).toMatch(/^Cut at 192\u00A0tokens/);
});
