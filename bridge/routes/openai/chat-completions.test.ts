import { beforeEach, describe, expect, it } from 'vitest';

import { chatCompletionsRoute } from './generation-routes.ts';
import { eventsOf, PlayedRoute } from '../../testing/played-tab.ts';

const messages = [{ role: 'user', content: 'Hello' }];
const usage = { numPromptTokens: 9, numCachedTokens: 4, numOutputTokens: 2 };

let played: PlayedRoute;

beforeEach(async () => {
  played = new PlayedRoute({ messages });
  await played.listen('/v1/chat/completions', chatCompletionsRoute);
  played.welcome();
});

describe('an answer to a chat', () => {
  it("is a message in OpenAI's shape", async () => {
    const answer = played.ask({ seed: 7, max_completion_tokens: 3 });
    const { requestId, input, options } = await played.submission();
    expect({ input, options }).toEqual({ input: messages, options: { n: 1, seed: 7, maxNewTokens: 3 } });
    played.finish(requestId, 'A', { usage });
    const response = await answer;
    expect([response.status, await response.json()]).toEqual([
      200,
      {
        id: expect.stringMatching(/^chatcmpl-[\w-]+$/),
        object: 'chat.completion',
        created: expect.any(Number),
        model: 'A',
        system_fingerprint: expect.stringMatching(/^fp_[\da-f]{12}$/),
        choices: [
          {
            index: 0,
            message: { role: 'assistant', content: '!', refusal: null },
            logprobs: null,
            finish_reason: 'length',
          },
        ],
        usage: {
          prompt_tokens: 9,
          completion_tokens: 2,
          total_tokens: 11,
          prompt_tokens_details: { cached_tokens: 4 },
        },
      },
    ]);
  });

  it("is a turn of the user that asks, as a completion's", async () => {
    const answer = played.ask({ user: 'ann' });
    const { requestId } = await played.submission();
    expect(played.posted.at(-1)).toMatchObject({
      caller: ['loopback', '', expect.stringMatching(/^[\da-f]{32}$/)],
    });
    played.finish(requestId);
    expect((await answer).status).toBe(200);
  });

  it('has log probabilities in the shape of chats', async () => {
    const answer = played.ask({ logprobs: true, top_logprobs: 1 });
    const { requestId, options } = await played.submission();
    expect(options).toMatchObject({ logprobs: 1 });
    const logprobs = [
      { tokenId: 7, logprob: -0.5, top: [{ tokenId: 7, logprob: -0.5 }] },
      { tokenId: 8, logprob: -2, top: [{ tokenId: 9, logprob: -Infinity }] },
      { tokenId: 10, logprob: -3, top: [] },
    ];
    const choice = { text: '', generatedText: '!é', tokenIds: [7, 8], logprobs, seed: 1 };
    played.finish(requestId, 'A', { choices: [{ ...choice, finishReason: 'stop' }] });
    const texts = new Map([
      [7, '!é'],
      [8, '\uFFFD'],
      [9, ' a'],
    ]);
    await played.answerTexts((tokenId) => texts.get(tokenId) ?? '');
    const own = { token: '!é', logprob: -0.5, bytes: [0x21, 0xc3, 0xa9] };
    expect(await (await answer).json()).toMatchObject({
      choices: [
        {
          logprobs: {
            content: [
              { ...own, top_logprobs: [own] },
              {
                token: '\uFFFD',
                logprob: -2,
                bytes: null,
                top_logprobs: [{ token: ' a', logprob: -9999, bytes: [0x20, 0x61] }],
              },
              { token: '', logprob: -3, bytes: null, top_logprobs: [] },
            ],
            refusal: null,
          },
        },
      ],
    });
  });

  it.each([
    ['NO_CHAT_TEMPLATE', 400, 'messages'],
    ['CHAT_TEMPLATE_FAILED', 400, 'messages'],
    ['EMPTY_PROMPT', 400, 'messages'],
    ['KV_BUDGET', 400, null],
    ['BACK_PRESSURE', 429, null],
    ['MODEL_RUN_FAILED', 500, null],
  ])('that fails with %s has status %i', async (code, status, param) => {
    const answer = played.ask({});
    const { requestId } = await played.submission();
    played.fail(requestId, code);
    const refused = await answer;
    expect([refused.status, await refused.json()]).toMatchObject([status, { error: { code, param } }]);
  });

  it('of a prompt beyond the context is refused as OpenAI refuses it', async () => {
    const answer = played.ask({});
    const { requestId } = await played.submission();
    played.fail(requestId, 'PROMPT_TOO_LONG');
    expect(await (await answer).json()).toMatchObject({
      error: { code: 'context_length_exceeded', param: 'messages', type: 'invalid_request_error' },
    });
  });

  it('is refused before the worker hears of it where the body is wrong', async () => {
    const refused = await played.ask({ messages: [{ role: 'user', content: [{ type: 'image_url' }] }] });
    expect([refused.status, await refused.json()]).toMatchObject([
      400,
      { error: { param: 'messages[0].content[0]' } },
    ]);
    expect(played.submittedIds).toEqual([]);
  });

  it('is refused where the caller asks for another model', async () => {
    const refused = await played.ask({ model: 'gpt-5' });
    expect([refused.status, await refused.json()]).toMatchObject([404, { error: { param: 'model' } }]);
  });

  it.each([-1, 5])('with a priority of %i is refused unless the operator allows it', async (priority) => {
    const refused = await played.ask({ priority });
    expect(await refused.json()).toMatchObject({ error: { param: 'priority' } });
  });
});

it('takes a request back when its client leaves', async () => {
  const controller = new AbortController();
  const answer = played.ask({ stream: true }, { signal: controller.signal });
  const { requestId } = await played.submission();
  controller.abort();
  await expect(answer).rejects.toThrow(/abort/);
  await expect.poll(() => played.posted.at(-1)).toMatchObject({ type: 'cancel', requestId });
});

describe('a stream of an answer', () => {
  it("has OpenAI's chunks: who speaks, the text, why it ends, and what was used", async () => {
    const answer = played.ask({ stream: true, stream_options: { include_usage: true } });
    const { requestId } = await played.submission();
    played.start(requestId);
    played.chunk(requestId, 'Hi');
    played.update({ type: 'chunk', requestId, index: 0, text: '', tokenIds: [], finishReason: 'stop' });
    played.finish(requestId, 'A', { usage });
    const response = await answer;
    expect(response.headers.get('content-type')).toContain('text/event-stream');
    const head = {
      id: expect.stringMatching(/^chatcmpl-/),
      object: 'chat.completion.chunk',
      created: expect.any(Number),
      model: 'A',
      system_fingerprint: expect.stringMatching(/^fp_/),
    };
    const events = (await response.text()).split('\n\n').slice(0, -1);
    expect(events.pop()).toBe('data: [DONE]');
    const choice = { index: 0, logprobs: null, finish_reason: null };
    expect(events.map((event): unknown => JSON.parse(event.slice('data: '.length)))).toEqual([
      { ...head, choices: [{ ...choice, delta: { role: 'assistant', content: '' } }], usage: null },
      { ...head, choices: [{ ...choice, delta: { content: 'Hi' } }], usage: null },
      { ...head, choices: [{ ...choice, delta: {}, finish_reason: 'stop' }], usage: null },
      {
        ...head,
        choices: [],
        usage: {
          prompt_tokens: 9,
          completion_tokens: 2,
          total_tokens: 11,
          prompt_tokens_details: { cached_tokens: 4 },
        },
      },
    ]);
  });

  it('tells who speaks once for each choice, and what each has used where that is asked for', async () => {
    const answer = played.ask({
      stream: true,
      n: 2,
      stream_options: { include_usage: true, continuous_usage_stats: true },
    });
    const { requestId } = await played.submission();
    played.start(requestId);
    const part = { type: 'chunk', requestId, numPromptTokens: 9 } as const;
    played.update(
      { ...part, index: 1, text: 'b', tokenIds: [8] },
      { ...part, index: 0, text: 'a', tokenIds: [7] },
      { ...part, index: 1, text: 'c', tokenIds: [9], finishReason: 'length' },
      { ...part, index: 0, text: '', tokenIds: [], finishReason: 'stop' },
    );
    played.finish(requestId);
    const chunks = (await eventsOf(answer)).slice(0, -1).map((event) => {
      const { choices, usage: used } = Object(event);
      const [{ index, delta, finish_reason: reason }] = choices;
      return [index, delta, reason, used.prompt_tokens, used.completion_tokens];
    });
    const opening = { role: 'assistant', content: '' };
    expect(chunks).toEqual([
      [1, opening, null, 9, 0],
      [1, { content: 'b' }, null, 9, 1],
      [0, opening, null, 9, 0],
      [0, { content: 'a' }, null, 9, 1],
      [1, { content: 'c' }, 'length', 9, 2],
      [0, {}, 'stop', 9, 2],
    ]);
  });

  it('has the log probabilities of each chunk', async () => {
    const answer = played.ask({ stream: true, logprobs: true });
    const { requestId } = await played.submission();
    played.start(requestId);
    const logprobs = [{ tokenId: 7, logprob: -1, top: [] }];
    played.update({ type: 'chunk', requestId, index: 0, text: 'a', tokenIds: [7], logprobs });
    await played.answerTexts(() => 'a');
    played.finish(requestId);
    expect(await eventsOf(answer)).toMatchObject([
      { choices: [{ delta: { role: 'assistant' }, logprobs: null }] },
      {
        choices: [
          {
            delta: { content: 'a' },
            logprobs: { content: [{ token: 'a', logprob: -1, bytes: [0x61], top_logprobs: [] }] },
          },
        ],
      },
    ]);
  });

  it('begins anew, speaker and all, where another model does and nothing was sent', async () => {
    const answer = played.ask({ stream: true });
    const { requestId } = await played.submission();
    played.start(requestId);
    played.update({ type: 'chunk', requestId, index: 0, text: '', tokenIds: [7] });
    played.restart(requestId);
    played.serveModel('B');
    played.start(requestId, 'B');
    played.chunk(requestId, 'Hi');
    played.finish(requestId, 'B');
    expect(await eventsOf(answer)).toMatchObject([
      { model: 'B', choices: [{ delta: { role: 'assistant', content: '' } }] },
      { model: 'B', choices: [{ delta: { content: 'Hi' } }] },
    ]);
  });
});

describe('a call that a stop string cuts', () => {
  const ends = [
    ['{"at": "s', 'stop'],
    ['{"at": "sea"}', 'tool_calls'],
  ] as const;

  it.each(ends)('in %s ends with %s', async (json, reason) => {
    const toolCalls = [{ id: 'c1', name: 'look', arguments: json }];
    const end = {
      finishReason: 'stop',
      stopString: 'END',
      answer: { reasoning: '', content: '', toolCalls },
    } as const;
    const answer = played.ask({});
    const { requestId } = await played.submission();
    const choice = { text: '', generatedText: '', tokenIds: [7], seed: 1 };
    played.finish(requestId, 'A', { ...end, choices: [{ ...choice, ...end }] });
    expect(await (await answer).json()).toMatchObject({ choices: [{ finish_reason: reason }] });
  });

  it.each(ends)('in %s ends a stream with %s', async (text, reason) => {
    const answer = played.ask({ stream: true });
    const { requestId } = await played.submission();
    played.start(requestId);
    const parts = [
      { type: 'tool-call', index: 0, id: 'c1', name: 'look' },
      { type: 'tool-arguments', index: 0, text },
    ] as const;
    const chunk = { type: 'chunk', requestId, index: 0, text, tokenIds: [7], parts } as const;
    played.update({ ...chunk, finishReason: 'stop' });
    played.finish(requestId, 'A', { usage });
    expect(await (await answer).text()).toContain(`"finish_reason":"${reason}"`);
  });
});
