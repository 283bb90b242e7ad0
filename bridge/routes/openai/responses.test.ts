import { Stream } from 'openai/core/streaming';
import { beforeEach, describe, expect, it } from 'vitest';

import { responsesRoute } from './generation-routes.ts';
import { eventsOf, PlayedRoute } from '../../testing/played-tab.ts';

const usage = { numPromptTokens: 9, numCachedTokens: 4, numOutputTokens: 2 };
const ITEM_ID = expect.stringMatching(/^msg_[\w-]+$/);

let played: PlayedRoute;

beforeEach(async () => {
  played = new PlayedRoute({ input: 'Hello' });
  await played.listen('/v1/responses', responsesRoute);
  played.welcome();
});

/** What an answer says in every state. */
const HEAD = {
  id: expect.stringMatching(/^resp_[\w-]+$/),
  object: 'response',
  created_at: expect.any(Number),
  model: 'A',
  background: false,
  error: null,
  instructions: null,
  max_output_tokens: null,
  max_tool_calls: null,
  metadata: {},
  parallel_tool_calls: true,
  previous_response_id: null,
  prompt_cache_key: null,
  reasoning: { effort: null, summary: null },
  safety_identifier: null,
  service_tier: 'default',
  store: false,
  temperature: null,
  text: { format: { type: 'text' } },
  tool_choice: 'auto',
  tools: [],
  top_logprobs: 0,
  top_p: null,
  truncation: 'disabled',
  user: null,
};

const USAGE = {
  input_tokens: 9,
  input_tokens_details: { cached_tokens: 4, cache_write_tokens: 0 },
  output_tokens: 2,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: 11,
};

const partOf = (text: string) => ({ type: 'output_text', text, annotations: [], logprobs: [] });

const THOUGHT = { reasoning: 'Hm', content: '', toolCalls: [] };
const TEXT = { reasoning: '', content: 'Hi', toolCalls: [] };
const callOf = (json: string) => ({
  reasoning: '',
  content: '',
  toolCalls: [{ id: 'call_1', name: 'f', arguments: json }],
});
const BY_STOP = { finishReason: 'stop', stopString: 'x' } as const;
const BY_LIMIT = { finishReason: 'length' } as const;
const BY_ITSELF = { finishReason: 'stop' } as const;

describe('a response', () => {
  it("has one message in OpenAI's shape, and repeats what was asked", async () => {
    const asked = {
      instructions: 'Be brief.',
      metadata: { run: '7' },
      max_output_tokens: 3,
      temperature: 0.5,
      store: true,
    };
    const answer = played.ask(asked);
    const { requestId, input, options } = await played.submission();
    expect({ input, options }).toEqual({
      input: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'Hello' },
      ],
      options: expect.objectContaining({ n: 1, maxNewTokens: 3, temperature: 0.5 }),
    });
    played.finish(requestId, 'A', { usage, finishReason: 'stop' });
    const response = await answer;
    expect([response.status, await response.json()]).toEqual([
      200,
      {
        ...HEAD,
        ...asked,
        store: false,
        status: 'completed',
        completed_at: expect.any(Number),
        incomplete_details: null,
        output: [
          { id: ITEM_ID, type: 'message', role: 'assistant', status: 'completed', content: [partOf('!')] },
        ],
        usage: USAGE,
      },
    ]);
  });

  it('that reaches its limit is incomplete', async () => {
    const answer = played.ask({});
    const { requestId } = await played.submission();
    played.finish(requestId);
    expect(await (await answer).json()).toMatchObject({
      status: 'incomplete',
      completed_at: null,
      incomplete_details: { reason: 'max_output_tokens' },
      output: [{ status: 'incomplete' }],
    });
  });

  it('has log probabilities where they are asked for', async () => {
    const answer = played.ask({ include: ['message.output_text.logprobs'], top_logprobs: 1 });
    const { requestId } = await played.submission();
    const logprobs = [{ tokenId: 7, logprob: -0.5, top: [{ tokenId: 7, logprob: -0.5 }] }];
    played.start(requestId);
    played.update({ type: 'chunk', requestId, index: 0, text: '!', tokenIds: [7], logprobs });
    await played.answerTexts(() => '!');
    played.finish(requestId, 'A', { logprobs });
    const own = { token: '!', logprob: -0.5, bytes: [0x21] };
    expect(await (await answer).json()).toMatchObject({
      output: [{ content: [{ text: '!', logprobs: [{ ...own, top_logprobs: [own] }] }] }],
    });
  });

  it.each([false, true])(
    'counts the tokens of its thoughts, and has log probabilities of its text alone: stream %j',
    async (stream) => {
      const answer = played.ask({ stream, include: ['message.output_text.logprobs'], top_logprobs: 0 });
      const { requestId } = await played.submission();
      const parts = [
        { type: 'reasoning', text: 'H' },
        { type: 'reasoning', text: 'm' },
        { type: 'content', text: '!' },
      ] as const;
      const logprobs = parts.map((_, at) => ({ tokenId: 7, logprob: -at, top: [] }));
      played.start(requestId);
      for (const [at, part] of parts.entries())
        played.update({
          type: 'chunk',
          requestId,
          index: 0,
          text: part.text,
          tokenIds: [7],
          parts: [part],
          logprobs: logprobs.slice(at, at + 1),
        });
      await played.answerTexts(() => 'x');
      const whole = { reasoning: 'Hm', content: '!', toolCalls: [] };
      const choice = {
        text: 'Hm!',
        generatedText: 'Hm!',
        tokenIds: [7, 7, 7],
        logprobs,
        answer: whole,
        finishReason: 'stop',
        seed: 1,
      } as const;
      played.finish(requestId, 'A', { ...choice, choices: [choice], usage });
      const read = stream ? Object((await eventsOf(answer)).at(-1)).response : await (await answer).json();
      expect(read).toMatchObject({
        usage: { output_tokens_details: { reasoning_tokens: 2 } },
        output: [
          { type: 'reasoning', content: [{ text: 'Hm' }] },
          { content: [{ text: '!', logprobs: [{ token: 'x', logprob: -2 }] }] },
        ],
      });
    },
  );

  describe.each([false, true])('with stream %j', (stream) => {
    it.each([
      ['a call that a stop string cuts', callOf('{"a": "b'), BY_STOP, 'stop', 'incomplete'],
      ['a call that its limit cuts', callOf('{"a": "b'), BY_LIMIT, 'max_output_tokens', 'incomplete'],
      ['a call before its arguments', callOf(''), BY_STOP, 'stop', 'incomplete'],
      ['a whole call before its limit', callOf('{"a": 1}'), BY_LIMIT, 'max_output_tokens', 'completed'],
      ['a whole call before a stop string', callOf('{"a": 1}'), BY_STOP, undefined, 'completed'],
      ['a call without arguments', callOf(''), BY_ITSELF, undefined, 'completed'],
      ['thinking that a stop string cuts', THOUGHT, BY_STOP, 'stop', 'incomplete'],
      ['thinking that its limit cuts', THOUGHT, BY_LIMIT, 'max_output_tokens', 'incomplete'],
      ['thinking that ends the answer', THOUGHT, BY_ITSELF, undefined, 'completed'],
      ['a message before a stop string', TEXT, BY_STOP, undefined, 'completed'],
      ['a message that its limit cuts', TEXT, BY_LIMIT, 'max_output_tokens', 'incomplete'],
    ] as const)(
      'has the state of %s in the answer and in its last item',
      async (_, parts, end, reason, item) => {
        const answer = played.ask({ stream });
        const { requestId } = await played.submission();
        const { reasoning, content, toolCalls } = parts;
        played.start(requestId);
        if (reasoning !== '') played.part(requestId, { type: 'reasoning', text: reasoning });
        if (content !== '') played.part(requestId, { type: 'content', text: content });
        for (const { id, name, arguments: text } of toolCalls) {
          played.part(requestId, { type: 'tool-call', index: 0, id, name });
          played.part(requestId, { type: 'tool-arguments', index: 0, text });
        }
        const choice = { text: 'x', generatedText: 'x', tokenIds: [7], answer: parts, seed: 1, ...end };
        played.finish(requestId, 'A', { ...choice, choices: [choice] });
        const status = reason === undefined ? 'completed' : 'incomplete';
        const response = {
          status,
          incomplete_details: reason === undefined ? null : { reason },
          output: [{ status: item }],
        };
        const last = stream ? (await eventsOf(answer)).at(-1) : await (await answer).json();
        expect(last).toMatchObject(stream ? { type: `response.${status}`, response } : response);
      },
    );
  });

  it('fails with the status, code and field of the error', async () => {
    const answer = played.ask({});
    const { requestId } = await played.submission();
    played.fail(requestId, 'PROMPT_TOO_LONG');
    const refused = await answer;
    expect([refused.status, await refused.json()]).toMatchObject([
      400,
      { error: { code: 'context_length_exceeded', param: 'input', type: 'invalid_request_error' } },
    ]);
  });

  it('is refused before the worker hears of it where the body or the model is wrong', async () => {
    const [image, other] = await Promise.all([
      played.ask({ input: [{ role: 'user', content: [{ type: 'input_image' }] }] }),
      played.ask({ model: 'gpt-5' }),
    ]);
    expect([image.status, other.status]).toEqual([400, 404]);
    expect(played.submittedIds).toEqual([]);
  });
});

describe('a stream of a response', () => {
  it("has OpenAI's events, named and numbered: begin, text, end", async () => {
    const answer = played.ask({ stream: true });
    const { requestId } = await played.submission();
    played.start(requestId);
    played.chunk(requestId, 'Hi');
    played.chunk(requestId, ' you');
    played.update({ type: 'chunk', requestId, index: 0, text: '', tokenIds: [], finishReason: 'stop' });
    played.finish(requestId, 'A', { usage, finishReason: 'stop', generatedText: 'Hi you' });
    const text = await (await answer).text();
    const begun = {
      ...HEAD,
      status: 'in_progress',
      completed_at: null,
      incomplete_details: null,
      output: [],
      usage: null,
    };
    const message = { id: ITEM_ID, type: 'message', role: 'assistant' };
    const done = { ...message, status: 'completed', content: [partOf('Hi you')] };
    const place = { item_id: ITEM_ID, output_index: 0, content_index: 0 };
    const expected: [string, object][] = [
      ['response.created', { response: begun }],
      ['response.in_progress', { response: begun }],
      [
        'response.output_item.added',
        { output_index: 0, item: { ...message, status: 'in_progress', content: [] } },
      ],
      ['response.content_part.added', { ...place, part: partOf('') }],
      ['response.output_text.delta', { ...place, delta: 'Hi', logprobs: [] }],
      ['response.output_text.delta', { ...place, delta: ' you', logprobs: [] }],
      ['response.output_text.done', { ...place, text: 'Hi you', logprobs: [] }],
      ['response.content_part.done', { ...place, part: partOf('Hi you') }],
      ['response.output_item.done', { output_index: 0, item: done }],
      [
        'response.completed',
        {
          response: {
            ...begun,
            status: 'completed',
            completed_at: expect.any(Number),
            output: [done],
            usage: USAGE,
          },
        },
      ],
    ];
    const lines = text
      .split('\n\n')
      .slice(0, -1)
      .map((event) => event.split('\n'));
    expect(lines.map(([name]) => name)).toEqual(expected.map(([type]) => `event: ${type}`));
    expect(lines.map(([, data = '']): unknown => JSON.parse(data.slice('data: '.length)))).toEqual(
      expected.map(([type, fields], index) => ({ type, sequence_number: index, ...fields })),
    );
  });

  it('that reaches its limit ends as incomplete', async () => {
    const answer = played.ask({ stream: true });
    const { requestId } = await played.submission();
    played.start(requestId);
    played.chunk(requestId, 'Hi');
    played.finish(requestId);
    expect((await eventsOf(answer)).at(-1)).toMatchObject({
      type: 'response.incomplete',
      response: { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } },
    });
  });

  it('that fails in the middle ends with an error and a failed response', async () => {
    const answer = played.ask({ stream: true });
    const { requestId } = await played.submission();
    played.start(requestId);
    played.chunk(requestId, 'Hi');
    played.fail(requestId, 'MODEL_RUN_FAILED');
    const events = await eventsOf(answer);
    expect(events.slice(-2)).toMatchObject([
      {
        type: 'error',
        sequence_number: 5,
        code: 'MODEL_RUN_FAILED',
        message: 'MODEL_RUN_FAILED',
        param: null,
        error: { code: 'MODEL_RUN_FAILED', type: 'server_error' },
      },
      {
        type: 'response.failed',
        sequence_number: 6,
        response: {
          status: 'failed',
          output: [],
          error: { code: 'server_error', message: 'MODEL_RUN_FAILED' },
        },
      },
    ]);
  });

  it("that fails in the middle is an error to OpenAI's client", async () => {
    const answer = played.ask({ stream: true });
    const { requestId } = await played.submission();
    played.start(requestId);
    played.chunk(requestId, 'Hi');
    played.fail(requestId, 'MODEL_RUN_FAILED');
    const types: unknown[] = [];
    const read = async (): Promise<void> => {
      const events = Stream.fromSSEResponse<{ type: string }>(await answer, new AbortController());
      for await (const { type } of events) types.push(type);
    };
    await expect(read()).rejects.toMatchObject({ code: 'MODEL_RUN_FAILED', message: 'MODEL_RUN_FAILED' });
    expect(types.at(-1)).toBe('response.output_text.delta');
  });

  it('that fails before its first token ends with the error alone', async () => {
    const answer = played.ask({ stream: true });
    const { requestId } = await played.submission();
    played.start(requestId);
    played.fail(requestId, 'MODEL_RUN_FAILED');
    const response = await answer;
    const failed = response.status === 200 ? await eventsOf(Promise.resolve(response)) : [];
    expect(failed).toMatchObject([{ type: 'error', sequence_number: 0, code: 'MODEL_RUN_FAILED' }]);
  });

  it('begins anew where another model does and nothing was sent', async () => {
    const answer = played.ask({ stream: true });
    const { requestId } = await played.submission();
    played.start(requestId);
    played.update({ type: 'chunk', requestId, index: 0, text: '', tokenIds: [7] });
    played.restart(requestId);
    played.serveModel('B');
    played.start(requestId, 'B');
    played.chunk(requestId, 'Hi');
    played.finish(requestId, 'B');
    expect(await eventsOf(answer)).toMatchObject(
      expect.arrayContaining([
        expect.objectContaining({
          type: 'response.created',
          response: expect.objectContaining({ model: 'B' }),
        }),
      ]),
    );
  });

  it('is taken back when its client leaves', async () => {
    const controller = new AbortController();
    const answer = played.ask({ stream: true }, { signal: controller.signal });
    const { requestId } = await played.submission();
    controller.abort();
    await expect(answer).rejects.toThrow(/abort/);
    await expect.poll(() => played.posted.at(-1)).toMatchObject({ type: 'cancel', requestId });
  });
});
