import { describe, expect, it, vi } from 'vitest';

import { InvalidOptionError } from '../../src/batching/base/errors.ts';
import { parseOrderedJson } from '../../src/batching/base/ordered-json.ts';
import { isRecord } from '../../src/platform/is-record.ts';
import { NoModelError } from '../../src/protocol/errors/model.ts';
import { answerWith, mountBridge } from '../testing/test-support.ts';
import { rowsOfTab } from './ask-rows.ts';
import { emptyText, textTooLong } from '../../src/protocol/errors/deployment-messages.ts';

it('embeds rows where only an encoder serves, and refuses those for a generator at once', async () => {
  const { bridge } = await mountBridge();
  vi.spyOn(bridge.serve, 'status').mockReturnValue({ ...bridge.serve.status(), state: 'ready' });
  answerWith(bridge, (input) =>
    typeof input === 'string'
      ? Promise.resolve({ embedding: [1, 0], numTokens: 2 })
      : { result: () => Promise.reject(NoModelError.of()) },
  );
  const { ask } = rowsOfTab(bridge.serve, { allowsAnyModel: true, allowsPriority: false });
  const context = { requestId: 'r', createdAt: 0, signal: AbortSignal.any([]) };
  const row = { index: 0, customId: 'a' };
  expect(await ask({ ...row, url: '/v1/embeddings', body: { input: 'Hi' } }, context)).toMatchObject({
    status: 200,
    body: { data: [{ embedding: [1, 0] }] },
  });
  const turn = { caller: ['batch'], isBackground: true, updates: 'end' };
  expect(vi.spyOn(bridge.serve, 'getHandle').mock.lastCall).toEqual(['embedder', turn]);
  const messages = [{ role: 'user', content: 'Hi' }];
  expect(await ask({ ...row, url: '/v1/chat/completions', body: { messages } }, context)).toMatchObject({
    status: 503,
    body: { error: { code: 'NO_MODEL' } },
  });
});

const chat = { messages: [{ role: 'user', content: 'Hi' }] };
const rows = [
  ['/v1/completions', { prompt: 'Hi' }],
  ['/v1/chat/completions', chat],
  ['/v1/embeddings', { input: 'Hi' }],
] as const;

/** As a row and a body spell them. */
const ROUNDED = ['"seed":9007199254740993', '"max_tokens":9007199254740993', '"seed":1e40'];

/** Fields that endpoints refuse. */
const refused = [
  { priority: 5 },
  { nonsense: 1 },
  { seed: '7' },
  { messages: 'Hi' },
  { prompt: {} },
  { best_of: 9 },
  { n: 1.5 },
  { dimensions: 0 },
  { encoding_format: 'hex' },
  { guided_json: {} },
  { logprobs: 'many' },
  { top_logprobs: 3 },
  { stream_options: {} },
  { tools: 'x' },
  { response_format: 'json' },
  { user: 5 },
];

describe.each(rows)('a row for %s', (url, body) => {
  it.each(ROUNDED)('with %s is answered as the endpoint answers it', async (fields) => {
    const { bridge, url: server } = await mountBridge();
    vi.spyOn(bridge.serve, 'status').mockReturnValue({ ...bridge.serve.status(), state: 'ready' });
    answerWith(bridge, () => Promise.reject(NoModelError.of()));
    const json = `${JSON.stringify(body).slice(0, -1)},${fields}}`;
    const answer = await fetch(server + url, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: json,
    });
    const { ask } = rowsOfTab(bridge.serve, {});
    const context = { requestId: 'r', createdAt: 0, signal: AbortSignal.any([]) };
    const given = parseOrderedJson(json);
    if (!isRecord(given)) throw new Error('A body is an object.');
    expect(await ask({ index: 0, customId: 'a', url, body: given }, context)).toEqual({
      status: answer.status,
      body: await answer.json(),
    });
  });

  it.each(refused)('with %j is answered as the endpoint answers it', async (fields) => {
    const { bridge, url: server } = await mountBridge();
    vi.spyOn(bridge.serve, 'status').mockReturnValue({ ...bridge.serve.status(), state: 'ready' });
    answerWith(bridge, () => Promise.reject(NoModelError.of()));
    const given = { ...body, ...fields };
    const answer = await fetch(server + url, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(given),
    });
    const { ask } = rowsOfTab(bridge.serve, {});
    const context = { requestId: 'r', createdAt: 0, signal: AbortSignal.any([]) };
    expect(await ask({ index: 0, customId: 'a', url, body: given }, context)).toEqual({
      status: answer.status,
      body: await answer.json(),
    });
  });
});

it.each([
  [textTooLong('input[2]', 600, 512), 'context_length_exceeded', 'input[2]'],
  [textTooLong('input', 600, 512), 'context_length_exceeded', 'input'],
  [emptyText('input[1]'), 'EMPTY_PROMPT', 'input[1]'],
  [InvalidOptionError.of('input[1]', 'a text', 5), 'INVALID_OPTION', 'input[1]'],
  [InvalidOptionError.of('prompt', 'left out', 'query'), 'INVALID_OPTION', 'prompt'],
])('embeddings are refused as OpenAI refuses them: %s', async (refusal, code, param) => {
  const { bridge } = await mountBridge();
  answerWith(bridge, () => Promise.reject(refusal));
  const { ask } = rowsOfTab(bridge.serve, {});
  const context = { requestId: 'r', createdAt: 0, signal: AbortSignal.any([]) };
  vi.spyOn(bridge.serve, 'status').mockReturnValue({ ...bridge.serve.status(), state: 'ready' });
  const row = { index: 0, customId: 'a', url: '/v1/embeddings', body: { input: ['a'] } } as const;
  expect(await ask(row, context)).toMatchObject({
    status: 400,
    body: { error: { code, param, type: 'invalid_request_error' } },
  });
});
