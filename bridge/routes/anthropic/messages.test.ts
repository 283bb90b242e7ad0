import { beforeEach, describe, expect, it, vi } from 'vitest';

import { writeOrderedJson } from '../../../src/batching/base/ordered-json.ts';
import type { AnswerPart } from '../../../src/client/index.ts';
import { fromWireText, toWireText } from '../../../src/protocol/wire-text.ts';
import { eventsOf, PlayedRoute } from '../../testing/played-tab.ts';
import { messageRoutes } from './message-routes.ts';

const usage = { numPromptTokens: 9, numCachedTokens: 4, numOutputTokens: 2 };

let played: PlayedRoute;

beforeEach(async () => {
  played = new PlayedRoute({ max_tokens: 8, messages: [{ role: 'user', content: 'Hello' }] });
  await played.listen('/v1/messages', (serve) => {
    const [route] = messageRoutes(serve);
    if (!route) throw new Error('There is no route.');
    return route;
  });
  played.welcome();
});

/** The prompt and options that a body becomes. */
async function submissionOf(body: object) {
  void played.ask(body).catch(() => undefined);
  const { input, options } = await played.submission();
  return { input, options };
}

async function refusalOf(body: object): Promise<unknown> {
  const response = await played.ask(body);
  return { status: response.status, body: await response.json() };
}

/** What the worker is asked for a count. */
async function countOf(body: string): Promise<unknown> {
  played = new PlayedRoute({});
  await played.listen('/v1/messages/count_tokens', (serve) => {
    const route = messageRoutes(serve)[1];
    if (!route) throw new Error('There is no route.');
    return route;
  });
  played.welcome();
  void played.ask({}, { body }).catch(() => undefined);
  const call = await vi.waitUntil(() => played.posted.find(({ type }) => type === 'tokenize-chat'));
  return fromWireText(toWireText(call));
}

const use = (id: string) => ({ type: 'tool_use', id, name: 'look', input: {} });
const result = (id: string, fields: object = {}) => ({
  type: 'tool_result',
  tool_use_id: id,
  content: '1',
  ...fields,
});
const SAYS = { type: 'text', text: 'And?' };

/** Calls, and the messages behind them. */
const called = (calls: readonly unknown[], ...contents: unknown[]) => ({
  messages: [
    { role: 'user', content: 'Look' },
    { role: 'assistant', content: calls },
    ...contents.map((content) => ({ role: 'user', content })),
  ],
});

/** `JSON.parse` would change it. */
const UNROUNDED = '{"at":1413617112501850121,"10":2.0,"2":1}';

/** The same in the first event as in the last. */
const INPUT = { input_tokens: 5, cache_read_input_tokens: 4 };

const MESSAGES = { messages: [{ role: 'user', content: 'Hello' }] };

const CHOICE = { text: '', generatedText: '', tokenIds: [7], seed: 1 };

describe('a message', () => {
  it("has blocks, the reason of its end and the tokens in Anthropic's words", async () => {
    const answer = played.ask({ system: 'Be brief.', temperature: 0.5, stop_sequences: ['END'] });
    const { requestId, input, options } = await played.submission();
    expect({ input, options }).toEqual({
      input: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'Hello' },
      ],
      options: expect.objectContaining({ maxNewTokens: 8, temperature: 0.5, stop: ['END'] }),
    });
    played.finish(requestId, 'A', { usage, finishReason: 'stop', stopString: 'END' });
    expect(await (await answer).json()).toEqual({
      id: expect.stringMatching(/^msg_/),
      type: 'message',
      role: 'assistant',
      model: 'A',
      content: [{ type: 'text', text: '!' }],
      stop_reason: 'stop_sequence',
      stop_sequence: 'END',
      usage: {
        input_tokens: 5,
        cache_creation_input_tokens: 0,
        cache_read_input_tokens: 4,
        output_tokens: 2,
      },
    });
  });

  it('has what the model thought and the calls of tools as blocks of their own, and no call that was cut', async () => {
    const tools = [{ name: 'look', input_schema: { type: 'object' } }];
    const answer = played.ask({ tools });
    const { requestId } = await played.submission();
    const parts = {
      reasoning: 'Hm.',
      content: 'So:',
      toolCalls: [
        { id: 'c1', name: 'look', arguments: '{"at":"sky"}' },
        { id: 'c2', name: 'look', arguments: '{"at":"s' },
      ],
    };
    played.finish(requestId, 'A', {
      answer: parts,
      choices: [{ ...CHOICE, finishReason: 'length', answer: parts }],
    });
    expect(await (await answer).json()).toMatchObject({
      content: [
        { type: 'thinking', thinking: 'Hm.', signature: '' },
        { type: 'text', text: 'So:' },
        { type: 'tool_use', id: 'c1', name: 'look', input: { at: 'sky' } },
      ],
      stop_reason: 'max_tokens',
      stop_sequence: null,
    });
  });

  it.each([
    ['omitted', false, ''],
    ['omitted', true, ''],
    ['summarized', false, 'Hm.'],
    ['summarized', true, 'Hm.'],
  ])('has thinking that is %s, in a stream %j, as %j', async (display, stream, text) => {
    const answer = played.ask({ stream, thinking: { type: 'enabled', display } });
    const { requestId } = await played.submission();
    const parts = { reasoning: 'Hm.', content: 'So', toolCalls: [] };
    played.start(requestId);
    played.part(requestId, { type: 'reasoning', text: 'Hm.' });
    played.part(requestId, { type: 'content', text: 'So' });
    played.finish(requestId, 'A', {
      answer: parts,
      choices: [{ ...CHOICE, finishReason: 'stop', answer: parts }],
    });
    const said = await (await answer).text();
    expect(said).toContain('"type":"thinking"');
    expect(said).toContain('So');
    const thoughts = [...said.matchAll(/"thinking":"([^"]*)"/g)].map(([, thought]) => thought);
    expect(thoughts.join('')).toBe(text);
  });

  it("keeps the model's own numbers and order of keys in the input of a call", async () => {
    const answer = played.ask({ tools: [{ name: 'look', input_schema: { type: 'object' } }] });
    const { requestId } = await played.submission();
    const parts = {
      reasoning: '',
      content: '',
      toolCalls: [{ id: 'c1', name: 'look', arguments: UNROUNDED }],
    };
    played.finish(requestId, 'A', {
      answer: parts,
      choices: [{ ...CHOICE, finishReason: 'stop', answer: parts }],
    });
    expect(await (await answer).text()).toContain(`"input":${UNROUNDED}`);
  });

  it('keeps the numbers and the order of keys that a call of the history came with', async () => {
    const { messages } = called([use('1')], [result('1')]);
    const body = JSON.stringify({ max_tokens: 8, messages }).replace('"input":{}', `"input":${UNROUNDED}`);
    void played.ask({}, { body }).catch(() => undefined);
    expect((await played.submission()).input).toMatchObject([
      {},
      { toolCalls: [{ arguments: UNROUNDED }] },
      {},
    ]);
  });

  it.each(['', '{"at":"s'])('ends with the stop sequence that cuts a call behind %j', async (json) => {
    const parts = {
      reasoning: '',
      content: 'So:',
      toolCalls: [{ id: 'c1', name: 'look', arguments: json }],
    };
    const cut = { finishReason: 'stop', stopString: 'END', answer: parts } as const;
    const answer = played.ask({});
    const { requestId } = await played.submission();
    played.finish(requestId, 'A', { ...cut, choices: [{ ...CHOICE, ...cut }] });
    expect(await (await answer).json()).toMatchObject({
      content: [{ type: 'text', text: 'So:' }],
      stop_reason: 'stop_sequence',
      stop_sequence: 'END',
    });
  });

  it('has no block where it has no text, whole and in a stream', async () => {
    const empty = { usage, generatedText: '', choices: [{ ...CHOICE, finishReason: 'length' }] } as const;
    const answer = played.ask({});
    played.finish((await played.submission()).requestId, 'A', empty);
    expect(await (await answer).json()).toMatchObject({ content: [], stop_reason: 'max_tokens' });
    const events = eventsOf(played.ask({ stream: true }));
    const [, requestId] = await played.submitted(2);
    if (requestId !== undefined) played.finish(requestId, 'A', empty);
    expect(await events).toMatchObject([
      { type: 'message_start', message: { content: [] } },
      { type: 'message_delta', delta: { stop_reason: 'max_tokens' } },
      { type: 'message_stop' },
    ]);
  });

  it("asks for one answer, whatever the model's default", async () => {
    expect((await submissionOf({})).options).toMatchObject({ n: 1 });
  });

  it.each(['enabled', 'adaptive'])('asks the template to think where thinking is %s', async (type) => {
    const { options } = await submissionOf({ thinking: { type } });
    expect(options).toMatchObject({ chatTemplateArguments: { enable_thinking: true } });
  });

  it.each([
    ['not found', 'Error: not found'],
    [[{ type: 'text', text: 'not found' }], [{ type: 'text', text: 'Error: not found' }]],
  ])('tells the model of a result that is an error: %j', async (content, told) => {
    const { input } = await submissionOf(called([use('1')], [result('1', { content, is_error: true })]));
    expect(input).toMatchObject([{}, {}, { role: 'tool', content: told }]);
  });

  it('streams its blocks one after the other, each with its beginning and its end', async () => {
    const events = eventsOf(played.ask({ stream: true }));
    const { requestId } = await played.submission();
    played.start(requestId);
    const chunk = (part: AnswerPart): void => played.part(requestId, part);
    chunk({ type: 'reasoning', text: 'Hm' });
    chunk({ type: 'content', text: 'So' });
    chunk({ type: 'content', text: '.' });
    chunk({ type: 'tool-call', index: 0, id: 'c1', name: 'look' });
    chunk({ type: 'tool-arguments', index: 0, text: '{}' });
    const parts = {
      reasoning: 'Hm',
      content: 'So.',
      toolCalls: [{ id: 'c1', name: 'look', arguments: '{}' }],
    };
    played.finish(requestId, 'A', { usage, finishReason: 'stop', answer: parts });
    const sent = await events;
    expect(sent).toMatchObject(
      [
        'message_start',
        'content_block_start',
        'content_block_delta',
        'content_block_stop',
        'content_block_start',
        'content_block_delta',
        'content_block_delta',
        'content_block_stop',
        'content_block_start',
        'content_block_delta',
        'content_block_stop',
        'message_delta',
        'message_stop',
      ].map((type) => ({ type })),
    );
    expect(sent[0]).toMatchObject({ message: { content: [], usage: INPUT } });
    expect(sent[9]).toMatchObject({ index: 2, delta: { type: 'input_json_delta', partial_json: '{}' } });
    expect(sent.at(-2)).toMatchObject({
      delta: { stop_reason: 'tool_use' },
      usage: { ...INPUT, output_tokens: 2 },
    });
  });

  it('becomes a chat: results of tools as messages of their own, and an answer that goes on where the last message ends', async () => {
    const { input, options } = await submissionOf({
      messages: [
        { role: 'user', content: [{ type: 'text', text: 'Look', cache_control: { type: 'ephemeral' } }] },
        {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: 'Hm', signature: 'x' },
            { type: 'tool_use', id: 'c1', name: 'look', input: { at: 'sky' } },
          ],
        },
        {
          role: 'user',
          content: [
            { type: 'tool_result', tool_use_id: 'c1', content: [{ type: 'text', text: 'blue' }] },
            { type: 'text', text: 'And?' },
          ],
        },
        { role: 'user', content: 'Say.' },
        { role: 'assistant', content: 'It is' },
      ],
    });
    expect(input).toEqual([
      { role: 'user', content: 'Look' },
      {
        role: 'assistant',
        reasoning: 'Hm',
        toolCalls: [{ id: 'c1', name: 'look', arguments: '{"at":"sky"}' }],
      },
      { role: 'tool', toolCallId: 'c1', content: [{ type: 'text', text: 'blue' }] },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'And?' },
          { type: 'text', text: 'Say.' },
        ],
      },
      { role: 'assistant', content: 'It is' },
    ]);
    expect(options).toMatchObject({ continueFinalMessage: true });
  });

  it.each([
    [
      { type: 'any', disable_parallel_tool_use: true },
      { toolChoice: 'required', parallelToolCalls: false },
    ],
    [{ type: 'tool', name: 'look' }, { toolChoice: { name: 'look' } }],
    [{ type: 'none' }, { toolChoice: 'none' }],
  ])('takes the tool choice %j', async (choice, expected) => {
    const tools = [{ name: 'look', description: 'Looks.', input_schema: { type: 'object' } }];
    const { options } = await submissionOf({ tools, tool_choice: choice });
    expect(options).toMatchObject({
      tools: [{ name: 'look', description: 'Looks.', parameters: { type: 'object' } }],
      ...expected,
    });
  });

  it('takes a shape of the answer, and no thinking', async () => {
    const { options } = await submissionOf({
      output_config: { format: { type: 'json_schema', schema: { type: 'object' } } },
      thinking: { type: 'disabled' },
    });
    expect(options).toMatchObject({
      responseFormat: { type: 'json_schema', schema: { type: 'object' } },
      chatTemplateArguments: { enable_thinking: false },
    });
  });

  it('takes the results of two calls in any order and in two messages of one role, and fields that are null', async () => {
    const { input } = await submissionOf(
      called([{ ...use('1'), toolset: null }, use('2')], [result('2')], [result('1'), SAYS]),
    );
    expect(input).toMatchObject([
      {},
      { toolCalls: [{ id: '1' }, { id: '2' }] },
      { role: 'tool', toolCallId: '2' },
      { role: 'tool', toolCallId: '1' },
      { role: 'user', content: 'And?' },
    ]);
  });

  it.each([
    ['nothing behind a call', called([use('1')]), 'messages[1].content[0]'],
    ['a text alone behind a call', called([use('1')], 'And?'), 'messages[1].content[0]'],
    ['one result of two', called([use('1'), use('2')], [result('1')]), 'messages[1].content[1]'],
    [
      'two results of one',
      called([use('1')], [result('1'), result('1')]),
      'messages[2].content[1].tool_use_id',
    ],
    ['a result of another call', called([use('1')], [result('9')]), 'messages[2].content[0].tool_use_id'],
    ['a result of no call', called([SAYS], [result('1')]), 'messages[2].content[0].tool_use_id'],
    ['two calls of one ID', called([use('1'), use('1')], [result('1')]), 'messages[1].content[1].id'],
    ['a text before a result', called([use('1')], [SAYS, result('1')]), 'messages[2].content[1]'],
    ['one in the message before', called([use('1')], 'And?', [result('1')]), 'messages[3].content[0]'],
    [
      'a text for is_error',
      called([use('1')], [result('1', { is_error: 'yes' })]),
      'messages[2].content[0].is_error',
    ],
    ['a field of another block', called([use('1')], [result('1', { id: '2' })]), 'messages[2].content[0].id'],
    ['an unknown field of a text', called([SAYS], [{ ...SAYS, foo: 1 }]), 'messages[2].content[0].foo'],
    [
      'thoughts that are none',
      called([{ type: 'thinking', thinking: 5 }], 'And?'),
      'messages[1].content[0].thinking',
    ],
    ['a field of a message', { messages: [{ role: 'user', content: 'a', foo: 1 }] }, 'messages[0].foo'],
    ['a number for a user', { metadata: { user_id: 5 } }, 'metadata.user_id'],
    ['a text for metadata', { metadata: 'a' }, 'metadata'],
    ['an unknown tier', { service_tier: 'x' }, 'service_tier'],
    ['one stop sequence', { stop_sequences: 'x' }, 'stop_sequences'],
    ['no limit', { max_tokens: null }, 'max_tokens'],
    ['a text for a budget', { thinking: { type: 'enabled', budget_tokens: 'x' } }, 'thinking.budget_tokens'],
    ['an unknown field of thinking', { thinking: { type: 'enabled', effort: 'x' } }, 'thinking.effort'],
    [
      'a name beside any',
      { tools: [{ name: 'f', input_schema: {} }], tool_choice: { type: 'any', name: 'f' } },
      'tool_choice.name',
    ],
    ['an unknown field beside auto', { tool_choice: { type: 'auto', foo: 1 } }, 'tool_choice.foo'],
    ['a choice without tools', { tool_choice: { type: 'any' } }, 'tool_choice'],
  ])('refuses %s as Anthropic does, by the name that the client has sent', async (_, body, param) => {
    expect(await refusalOf(body)).toMatchObject({
      status: 400,
      body: { error: { param, message: expect.stringContaining(`\`${param}\``) } },
    });
    expect(played.submittedIds).toEqual([]);
  });

  it.each([
    [{ messages: [] }, 'messages'],
    [{ messages: [{ role: 'user', content: [{ type: 'image' }] }] }, 'messages[0].content[0]'],
    [{ messages: [{ role: 'tool', content: '' }] }, 'messages[0].role'],
    [{ tools: [{ type: 'web_search_20250305', name: 'web_search' }] }, 'tools[0]'],
    [{ tool_choice: { type: 'tool' } }, 'tool_choice'],
    [{ thinking: { type: 'much' } }, 'thinking.type'],
    [{ thinking: { type: 'enabled', display: 'short' } }, 'thinking.display'],
    [{ mcp_servers: [] }, 'mcp_servers'],
    [{ model: 'claude' }, 'model'],
  ])("refuses %j in Anthropic's words", async (body, param) => {
    expect(await refusalOf(body)).toMatchObject({
      status: param === 'model' ? 404 : 400,
      body: {
        type: 'error',
        error: { type: expect.stringMatching(/^(?:invalid_request|not_found)_error$/), param },
      },
    });
    expect(played.submittedIds).toEqual([]);
  });

  it('ends a stream that has begun with an error of its own', async () => {
    const events = eventsOf(played.ask({ stream: true }));
    const { requestId } = await played.submission();
    played.start(requestId);
    played.chunk(requestId, 'So');
    played.fail(requestId, 'DEVICE_LOST');
    expect((await events).at(-1)).toMatchObject({ type: 'error', error: { type: 'overloaded_error' } });
  });
});

describe('the count of tokens', () => {
  it('has no tools where none may be called', async () => {
    const body = { ...MESSAGES, tools: [{ name: 'f', input_schema: {} }], tool_choice: { type: 'none' } };
    expect(await countOf(JSON.stringify(body))).toMatchObject({ tools: [] });
  });

  it('ends where a last message of the assistant does', async () => {
    const messages = [...MESSAGES.messages, { role: 'assistant', content: 'It is' }];
    expect(await countOf(JSON.stringify({ messages }))).toMatchObject({
      addGenerationPrompt: false,
      continueFinalMessage: true,
    });
  });

  it('has the numbers of a schema as they were written', async () => {
    const schema = '{"type":"object","properties":{"10":{"const":1.0},"2":{}}}';
    const tools = `[{"name":"f","input_schema":${schema}}]`;
    const call = await countOf(`${JSON.stringify(MESSAGES).slice(0, -1)},"tools":${tools}}`);
    expect(writeOrderedJson(call)).toContain(`"parameters":${schema}`);
  });
});
