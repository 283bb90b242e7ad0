import { expect, it } from 'vitest';

import { createRequestView, textAt, updateRequestView, type RequestView } from './request-view.ts';
import { idOf } from '../testing/test-support.ts';

const ID = idOf('a');

function createView(): RequestView {
  return createRequestView(
    { type: 'submitted', requestId: ID, deployment: 'text-generator', input: 'Once' },
    1,
  );
}

function withChunk(view: RequestView, text: string, atMs: number, index = 0): RequestView {
  return updateRequestView(view, { type: 'chunk', requestId: ID, index, text, tokenIds: [1] }, atMs);
}

function finish(view: RequestView, tokenIds: readonly number[], numOutputTokens: number): RequestView {
  const choice = { text: '', generatedText: ' upon', tokenIds, finishReason: 'stop', seed: 7 } as const;
  const timings = { queueWaitMs: 1, ttftMs: 2, e2eMs: 3, tpotMs: 1 };
  const usage = { numPromptTokens: 1, numCachedTokens: 0, numOutputTokens };
  const result = { ...choice, choices: [choice], usage, timings };
  return updateRequestView(view, { type: 'finished', requestId: ID, result }, 0);
}

it('knows each continuation as it was at any time', () => {
  let view = withChunk(createView(), ' upon', 100);
  view = withChunk(view, ' there', 150, 1);
  view = withChunk(view, ' a time', 200);
  const textsAt = (index: number) => [99, 100, 199, 200, 999].map((atMs) => textAt(view, index, atMs));
  expect(textsAt(0)).toEqual(['', ' upon', ' upon', ' upon a time', ' upon a time']);
  expect(textsAt(1)).toEqual(['', '', ' there', ' there', ' there']);
});

it('shows no more than the result, which may lack what was streamed', () => {
  const view = finish(withChunk(createView(), ' upon a time', 100), [1, 2], 2);
  expect(textAt(view, 0, 100)).toBe(' upon');
});

it('forgets the texts of a request that starts again', () => {
  const model = { id: 'm', backend: 'wasm', precision: 'fp32' } as const;
  const view = withChunk(createView(), ' upon', 100);
  const again = updateRequestView(view, { type: 'restarted', requestId: ID, model }, 150);
  expect(textAt(withChunk(again, ' there', 200), 0, 199)).toBe('');
});

it('distinguishes a stop string from the end of the text by the end token', () => {
  expect(finish(createView(), [1, 2], 2).isStopped).toBe(true);
  expect(finish(createView(), [1, 2], 3).isStopped).toBe(false);
});

it.each([
  ['a text', 'Once', 'Once'],
  [
    'a chat, by its newest message',
    [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'Why?' },
    ],
    'Why?\n',
  ],
  ['an input that the worker refuses', [1, 2], '[1,2]'],
  ['an empty list', [], '[]'],
])('shows the prompt of %s', (_what, input, prompt) => {
  const submitted = { type: 'submitted', requestId: ID, deployment: 'text-generator', input } as const;
  expect(createRequestView(submitted, 1).prompt).toBe(prompt);
});
