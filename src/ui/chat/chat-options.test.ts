import { expect, it } from 'vitest';

import { CHAT_FIELDS, optionsFor, parseChatOptions } from './chat-options.ts';

it('limits an answer to 512 tokens unless another limit is typed', () => {
  expect(parseChatOptions({}).options).toEqual({ maxNewTokens: 512 });
  expect(parseChatOptions({ maxNewTokens: '9' }).options).toEqual({ maxNewTokens: 9 });
});

it('gives each chat a seed of its own, which repeats', () => {
  expect([1, 2].map((ordinal) => optionsFor({ seed: 7, topK: 3 }, ordinal))).toEqual([
    { seed: 7, topK: 3 },
    { seed: 8, topK: 3 },
  ]);
  expect(optionsFor({ topK: 3 }, 2)).toEqual({ topK: 3 });
});

it('has no field that a chat has no place for', () => {
  const names = CHAT_FIELDS.map(({ name }) => name);
  expect(names).toContain('temperature');
  expect(names.filter((name) => name === 'n' || name === 'echo' || name === 'logprobs')).toEqual([]);
});
