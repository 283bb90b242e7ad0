import { describe, expect, it } from 'vitest';

import { answerWith, mountBridge } from '../testing/test-support.ts';
import { emptyText, pairTooLong } from '../../src/protocol/errors/deployment-messages.ts';

const tooLong = (place: string): Error => pairTooLong(place, 600, 512);

/** The status and the error of a body, where the worker's answer is this error. */
async function refusalOf(path: string, body: object, error?: Error): Promise<unknown> {
  const { bridge, url } = await mountBridge();
  answerWith(bridge, () => (error ? Promise.reject(error) : Promise.resolve({ results: [], numTokens: 0 })));
  const response = await fetch(url + path, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  });
  return [response.status, await response.json()];
}

describe('scores', () => {
  it.each([
    [{ text_1: 'a', text_2: 'b' }, 'query', 'text_1'],
    [{ text_1: 'a', text_2: 'b' }, 'documents[0]', 'text_2'],
    [{ text_1: ['a'], text_2: ['b', 'c'] }, 'query', 'text_1[0]'],
    [{ text_1: 'a', text_2: ['b', 'c'] }, 'documents[1]', 'text_2[1]'],
    [{ text_1: ['a', 'b'], text_2: ['c', 'd'] }, 'query', 'text_1[0]'],
    [{ text_1: ['a', 'b'], text_2: ['c', 'd'] }, 'documents[0]', 'text_2[0]'],
  ])('of %j name the text that is too long by its own field: %s is %s', async (body, place, param) => {
    expect(await refusalOf('/v1/score', body, tooLong(place))).toEqual([
      400,
      { error: expect.objectContaining({ param, code: 'context_length_exceeded' }) },
    ]);
  });

  it('cut a text where a body asks for it, as the error says', async () => {
    const { bridge, url } = await mountBridge();
    const asked: object[] = [];
    answerWith(bridge, (_, options) => {
      asked.push(options);
      return Promise.resolve({ results: [], numTokens: 0 });
    });
    for (const truncate of [true, undefined])
      await fetch(`${url}/v1/score`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({ text_1: 'a', text_2: 'b', truncate }),
      });
    expect(tooLong('query').message).toContain('`truncate: true`');
    expect(asked).toMatchObject([{ truncate: true }, { truncate: false }]);
  });

  it.each([
    ['two empty lists', { text_1: [], text_2: [] }, 'text_1'],
    ['an empty list', { text_1: 'a', text_2: [] }, 'text_2'],
    [
      'too many pairs',
      {
        text_1: Array.from({ length: 10_001 }, () => 'a'),
        text_2: Array.from({ length: 10_001 }, () => 'b'),
      },
      'text_1',
    ],
    ['lists of two lengths', { text_1: ['a', 'b'], text_2: ['c'] }, 'text_1'],
    ['a number to truncate', { text_1: 'a', text_2: 'b', truncate: 1 }, 'truncate'],
  ])('are refused for %s', async (_, body, param) => {
    expect(await refusalOf('/v1/score', body)).toMatchObject([400, { error: { param } }]);
  });
});

it.each([
  ['/v1/rerank', { query: '', documents: ['a'] }, 'query', /one character\.$/],
  ['/v1/rerank', { query: 'a', documents: [''] }, 'documents[0]', /leave it out/],
  ['/v1/embeddings', { input: '' }, 'input', /one character\.$/],
  ['/v1/embeddings', { input: [''] }, 'input[0]', /leave it out/],
])('%s may leave an empty text of %j out where it is one of a list', async (path, body, param, message) => {
  expect(await refusalOf(path, body, emptyText(param))).toMatchObject([
    400,
    { error: { param, message: expect.stringMatching(message) } },
  ]);
});

it('a ranking returns its documents as they were sent', async () => {
  const { bridge, url } = await mountBridge();
  answerWith(bridge, () => Promise.resolve({ results: [{ index: 0, score: 1 }], numTokens: 1 }));
  const document = '{"id":1413617112501850121,"2":1,"1":2,"text":"b"}';
  const response = await fetch(`${url}/v1/rerank`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'Content-Encoding': 'Identity' },
    body: `{"query":"a","documents":[${document}],"return_documents":true}`,
  });
  expect([response.status, await response.text()]).toEqual([
    200,
    expect.stringContaining(`"document":${document}`),
  ]);
});

it('a ranking says which documents were cut, because a body that asks for nothing lets them be', async () => {
  const { bridge, url } = await mountBridge();
  const results = [true, false].map((isTruncated, index) => ({ index, score: 1, isTruncated }));
  answerWith(bridge, () => Promise.resolve({ results, numTokens: 1 }));
  const response = await fetch(`${url}/v1/rerank`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ query: 'a', documents: ['b', 'c'] }),
  });
  expect(await response.json()).toMatchObject({
    results: [
      { index: 0, is_truncated: true },
      { index: 1, is_truncated: false },
    ],
  });
});
