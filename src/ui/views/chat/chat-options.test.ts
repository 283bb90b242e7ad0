import { expect, it } from 'vitest';

import { createStatus, MODEL, WEBGPU } from '../../testing/test-support.ts';
import { chatDefaults, CHAT_FIELDS, optionsFor } from './chat-options.ts';

const LIMIT = { maxNewTokens: '512' };

it('limits an answer to 512 tokens unless another limit is typed', () => {
  expect(optionsFor({}, { defaults: LIMIT, index: 0 }).options).toEqual({ maxNewTokens: 512 });
  expect(optionsFor({ maxNewTokens: '9' }, { defaults: LIMIT, index: 0 }).options).toEqual({
    maxNewTokens: 9,
  });
});

it('samples where the checkpoint says nothing; one that does, and a server, keep their own', () => {
  const greedy = { ...MODEL, generationDefaults: { ...MODEL.generationDefaults, temperature: 0 } };
  const atServer = { ...WEBGPU, name: 'server' } as const;
  expect(chatDefaults(createStatus({ model: greedy }))).toEqual({
    ...LIMIT,
    temperature: '0.7',
    topP: '0.95',
  });
  expect(chatDefaults(createStatus({ model: MODEL }))).toEqual(LIMIT);
  expect(chatDefaults(createStatus({ model: greedy, backend: atServer }))).toEqual(LIMIT);
});

it('gives each column a seed of its own, which repeats', () => {
  const seeds = [0, 1].map((index) => optionsFor({ seed: '7', topK: '3' }, { defaults: {}, index }).options);
  expect(seeds).toEqual([
    { seed: 7, topK: 3 },
    { seed: 8, topK: 3 },
  ]);
  expect(optionsFor({ topK: '3' }, { defaults: {}, index: 1 }).options).toEqual({ topK: 3 });
});

it('lets a column’s own options win, and names its mistakes', () => {
  const own = { temperature: '1.2', seed: '' };
  const defaults = { temperature: '0.7', topP: '0.95' };
  expect(optionsFor({ temperature: '0', seed: '7' }, { own, defaults, index: 1 }).options).toEqual({
    temperature: 1.2,
    topP: 0.95,
    seed: 8,
  });
  const wrong = optionsFor({}, { own: { seed: 'x' }, defaults, index: 0 });
  expect([wrong.errors, wrong.error?.code]).toEqual([{}, 'INVALID_OPTION']);
});

it('has no field that a chat has no place for', () => {
  const names = CHAT_FIELDS.map(({ name }) => name);
  expect(names).toContain('temperature');
  expect(names.filter((name) => name === 'n' || name === 'logprobs')).toEqual([]);
});
