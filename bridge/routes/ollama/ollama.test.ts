import { describe, expect, it } from 'vitest';

import type { AnswerPart } from '../../../src/client/index.ts';
import { createModelInfo, createWorkerStatus } from '../../../src/worker/test-support.ts';
import { answerWith, mountBridge } from '../../testing/test-support.ts';
import { PlayedRoute } from '../../testing/played-tab.ts';
import { ollamaRoutes } from './ollama-routes.ts';

const usage = { numPromptTokens: 9, numCachedTokens: 4, numOutputTokens: 2 };
const timings = { queueWaitMs: 0, ttftMs: 3, tpotMs: 2, e2eMs: 5 };

async function play(path: string, body: object): Promise<PlayedRoute> {
  const played = new PlayedRoute(body);
  await played.listen(path, (serve) => routeAt(path, serve));
  played.welcome();
  return played;
}

function routeAt(path: string, serve: Parameters<typeof ollamaRoutes>[0]) {
  const route = ollamaRoutes(serve).find((each) => each.path === path);
  if (!route) throw new Error(`There is no route ${path}.`);
  return route;
}

/** `JSON.parse` would change it. */
const UNROUNDED = '{"at":1413617112501850121,"10":2.0,"2":1}';

const CHOICE = { text: '', generatedText: '', tokenIds: [7], seed: 1, finishReason: 'stop' } as const;

const answerWithCalls = (...calls: readonly string[]) => ({
  reasoning: '',
  content: '',
  toolCalls: calls.map((json, index) => ({ id: `c${index}`, name: 'look', arguments: json })),
});

const chat = (): Promise<PlayedRoute> =>
  play('/api/chat', { model: 'A:latest', messages: [{ role: 'user', content: 'Hello' }] });

const called = (name: string) => ({ function: { name, arguments: { at: name } } });

const callingWith = (calls: unknown) => ({
  messages: [{ role: 'assistant', content: 'a', tool_calls: calls }],
});

/** A chat in which a tool has been called, and this is its answer. */
const answersOf = (fields: object) => ({
  messages: [...callingWith([called('f')]).messages, { role: 'tool', content: '7', ...fields }],
});

async function linesOf(answer: Promise<Response>): Promise<unknown[]> {
  const text = await (await answer).text();
  return text
    .trimEnd()
    .split('\n')
    .map((line): unknown => JSON.parse(line));
}

describe("Ollama's chat", () => {
  it('answers in one piece where no stream is wanted, with durations in nanoseconds', async () => {
    const played = await chat();
    const answer = played.ask({ stream: false, options: { num_predict: 8, stop: 'END', num_ctx: 2048 } });
    const { requestId, options } = await played.submission();
    expect(options).toMatchObject({ maxNewTokens: 8, stop: ['END'] });
    played.finish(requestId, 'A', { usage, timings, finishReason: 'stop' });
    expect(await (await answer).json()).toEqual({
      model: 'A',
      created_at: expect.any(String),
      message: { role: 'assistant', content: '!' },
      done: true,
      done_reason: 'stop',
      total_duration: 5e6,
      load_duration: 0,
      prompt_eval_count: 9,
      prompt_eval_duration: 3e6,
      eval_count: 2,
      eval_duration: 2e6,
    });
  });

  it('streams lines of JSON by itself, and each call of a tool whole', async () => {
    const played = await chat();
    const lines = linesOf(played.ask({ tools: [{ type: 'function', function: { name: 'look' } }] }));
    const { requestId } = await played.submission();
    played.start(requestId);
    const chunk = (part: AnswerPart): void => played.part(requestId, part);
    chunk({ type: 'reasoning', text: 'Hm' });
    chunk({ type: 'content', text: 'So' });
    chunk({ type: 'tool-call', index: 0, id: 'c1', name: 'look' });
    chunk({ type: 'tool-arguments', index: 0, text: '{"at":' });
    chunk({ type: 'tool-arguments', index: 0, text: '1}' });
    played.finish(requestId, 'A', { usage, timings, finishReason: 'stop' });
    const call = { id: 'c1', function: { index: 0, name: 'look', arguments: { at: 1 } } };
    expect(await lines).toMatchObject([
      { message: { content: '', thinking: 'Hm' }, done: false },
      { message: { content: 'So' }, done: false },
      { message: { content: '', tool_calls: [call] }, done: false },
      { message: { content: '' }, done: true, done_reason: 'stop', eval_count: 2 },
    ]);
  });

  it("keeps the model's own numbers and order of keys in the arguments of a call, whole and in a stream", async () => {
    for (const stream of [false, true]) {
      const played = await chat();
      const text = played.ask({ stream }).then((answer) => answer.text());
      const { requestId } = await played.submission();
      played.start(requestId);
      if (stream) {
        played.part(requestId, { type: 'tool-call', index: 0, id: 'c1', name: 'look' });
        played.part(requestId, { type: 'tool-arguments', index: 0, text: UNROUNDED });
      }
      const answer = answerWithCalls(UNROUNDED);
      played.finish(requestId, 'A', { answer, choices: [{ ...CHOICE, answer }] });
      expect(await text).toContain(`"arguments":${UNROUNDED}`);
    }
  });

  it('keeps the numbers and the order of keys that a call of the history came with', async () => {
    const played = await chat();
    const body = JSON.stringify(answersOf({})).replace('{"at":"f"}', UNROUNDED);
    void played.ask({}, { body }).catch(() => undefined);
    expect((await played.submission()).input).toMatchObject([{ toolCalls: [{ arguments: UNROUNDED }] }, {}]);
  });

  it('numbers its calls alike, whole and in a stream', async () => {
    for (const stream of [false, true]) {
      const played = await chat();
      const lines = linesOf(played.ask({ stream }));
      const { requestId } = await played.submission();
      played.start(requestId);
      for (const index of stream ? [0, 1] : []) {
        played.part(requestId, { type: 'tool-call', index, id: `c${index}`, name: 'look' });
        played.part(requestId, { type: 'tool-arguments', index, text: '{}' });
      }
      const answer = answerWithCalls('{}', '{}');
      played.finish(requestId, 'A', { answer, choices: [{ ...CHOICE, answer }] });
      expect(JSON.stringify(await lines)).toMatch(/"index":0,.*"index":1,/);
    }
  });

  it.each(['', '{"at":'])(
    'ends with stop and no call where a stop string cuts it behind %j',
    async (json) => {
      for (const stream of [false, true]) {
        const played = await chat();
        const lines = linesOf(played.ask({ stream }));
        const { requestId } = await played.submission();
        played.start(requestId);
        if (stream) {
          played.part(requestId, { type: 'tool-call', index: 0, id: 'c0', name: 'look' });
          if (json !== '') played.part(requestId, { type: 'tool-arguments', index: 0, text: json });
        }
        const answer = answerWithCalls(json);
        const cut = { finishReason: 'stop', stopString: '"a"', answer } as const;
        played.finish(requestId, 'A', { ...cut, choices: [{ ...CHOICE, ...cut }] });
        expect(await lines).toEqual([expect.objectContaining({ done: true, done_reason: 'stop' })]);
        expect(JSON.stringify(await lines)).not.toContain('tool_calls');
      }
    },
  );

  it("asks for one answer, whatever the model's default", async () => {
    const played = await chat();
    void played.ask({}).catch(() => undefined);
    expect((await played.submission()).options).toMatchObject({ n: 1 });
  });

  it('takes the seed -1 as any seed', async () => {
    const played = await chat();
    void played.ask({ options: { seed: -1 } }).catch(() => undefined);
    expect((await played.submission()).options).not.toHaveProperty('seed', -1);
  });

  it('knows which call an answer of a tool is for, by its name or its place', async () => {
    const played = await chat();
    const asked = played.ask({
      messages: [
        { role: 'user', content: 'Look' },
        { role: 'assistant', content: '', tool_calls: [called('f'), called('g')] },
        { role: 'tool', tool_name: 'g', content: 'second' },
        { role: 'tool', content: 'first' },
      ],
    });
    asked.catch(() => undefined);
    const { input } = await played.submission();
    expect(input).toMatchObject([
      {},
      {
        toolCalls: [
          { id: 'call_1_0', name: 'f', arguments: '{"at":"f"}' },
          { id: 'call_1_1', name: 'g', arguments: '{"at":"g"}' },
        ],
      },
      { toolCallId: 'call_1_1' },
      { toolCallId: 'call_1_0' },
    ]);
  });

  it('takes a body as curl sends it, which names no JSON', async () => {
    const played = await chat();
    const answer = played.ask({}, { headers: { 'Content-Type': 'application/x-www-form-urlencoded' } });
    const { requestId } = await played.submission();
    played.finish(requestId, 'A', { usage, timings });
    expect((await answer).status).toBe(200);
  });

  it('says that the model is there where no message is sent', async () => {
    const played = await chat();
    expect(await linesOf(played.ask({ messages: [] }))).toMatchObject([{ done: true, done_reason: 'load' }]);
    expect(played.submittedIds).toEqual([]);
  });

  it.each([0, '0', '0s'])('says that a model may go where it is kept for %j', async (keepAlive) => {
    const played = await chat();
    const lines = await linesOf(played.ask({ messages: [], keep_alive: keepAlive }));
    expect(lines).toMatchObject([{ done: true, done_reason: 'unload' }]);
  });

  it('generates as much as there is room for where the limit is negative', async () => {
    const played = await chat();
    void played.ask({ options: { num_predict: -1 } }).catch(() => undefined);
    expect((await played.submission()).options).not.toHaveProperty('maxNewTokens');
  });

  const REFUSED = { error: expect.stringMatching(/^`A` does not support thinking: leave `think` out/) };
  const TAKEN = { done: true };

  it.each([
    [true, false, REFUSED],
    ['high', false, REFUSED],
    [false, false, TAKEN],
    ['none', false, TAKEN],
    [true, true, TAKEN],
    [true, undefined, TAKEN],
  ])('asked with think: %j, a model that can think (%j) answers, or not', async (think, canThink, answer) => {
    const played = await chat();
    const model = createModelInfo({ id: 'A', ...(canThink !== undefined && { canThink }) });
    played.say({ type: 'status', status: createWorkerStatus({ state: 'ready', model }) });
    const response = await played.ask({ messages: [], stream: false, think });
    expect(await response.json()).toMatchObject(answer);
  });

  it.each([
    [{ format: 'json' }, { responseFormat: { type: 'json_object' } }],
    [{ format: { type: 'object' } }, { responseFormat: { type: 'json_schema', schema: { type: 'object' } } }],
    [{ think: false }, { chatTemplateArguments: { enable_thinking: false } }],
    [{ think: true }, { chatTemplateArguments: { enable_thinking: true } }],
    [{ think: 'high' }, { chatTemplateArguments: { enable_thinking: true, reasoning_effort: 'high' } }],
    [{ options: { repeat_last_n: 64, temperature: 0, presence_penalty: 0 } }, { temperature: 0 }],
  ])('takes %j', async (body, expected) => {
    const played = await chat();
    void played.ask(body).catch(() => undefined);
    expect((await played.submission()).options).toMatchObject(expected);
  });

  it.each<readonly [object, RegExp]>([
    [{ options: { mirostat: 2 } }, /`options\.mirostat`/],
    [{ options: { repeat_penalty: 1.1, repeat_last_n: 64 } }, /`options\.repeat_last_n`/],
    [{ options: { presence_penalty: 1, repeat_last_n: 64 } }, /`options\.repeat_last_n`/],
    [{ options: { frequency_penalty: -1, repeat_last_n: 0 } }, /`options\.repeat_last_n`/],
    [{ options: { tempreature: 1 } }, /`options\.tempreature`.*temperature/],
    ...['x', '3', {}, [], true, -1.5].map(
      (limit) => [{ options: { num_predict: limit } }, /`options\.num_predict` to be an integer/] as const,
    ),
    [{ options: { num_ctx: 'abc' } }, /`options\.num_ctx` to be an integer/],
    [{ options: { use_mmap: 1 } }, /`options\.use_mmap` to be true or false/],
    [{ options: { temperature: 'hot' } }, /`options\.temperature` to be a number/],
    [{ options: { stop: [5] } }, /`options\.stop` to be a text, or a list of texts/],
    [{ keep_alive: 'abc' }, /`keep_alive` to be a number of seconds, or a duration, such as 5m/],
    [{ keep_alive: '300' }, /`keep_alive`/],
    [{ keep_alive: {} }, /`keep_alive`/],
    [{ truncate: 'x' }, /`truncate` to be true or false/],
    [{ shift: 5 }, /`shift` to be true or false/],
    [
      answersOf({ tool_name: 'WRONG' }),
      /`messages\[1\]\.tool_name` to be the tool of a call before.*`WRONG`/,
    ],
    [answersOf({ name: 'WRONG' }), /`messages\[1\]\.name`.*`WRONG`/],
    [{ messages: [{ role: 'tool', content: 'a' }] }, /`messages\[0\]\.tool_name`.*`nothing`/],
    [callingWith(called('f')), /`messages\[0\]\.tool_calls` to be a list of calls/],
    [callingWith('f'), /`messages\[0\]\.tool_calls`/],
    [
      callingWith([{ ...called('f'), type: 'custom' }]),
      /`messages\[0\]\.tool_calls\[0\]\.type` to be function/,
    ],
    [callingWith([{ ...called('f'), foo: 1 }]), /`messages\[0\]\.tool_calls\[0\]\.foo`/],
    [
      callingWith([{ function: { name: 'f', arguments: {}, foo: 1 } }]),
      /`messages\[0\]\.tool_calls\[0\]\.function\.foo`/,
    ],
    [callingWith([{ function: {} }]), /`messages\[0\]\.tool_calls\[0\]` to be an object with a `function`/],
    [
      callingWith([{ function: { name: 'f', arguments: 5 } }]),
      /`messages\[0\]\.tool_calls\[0\]\.function\.arguments`/,
    ],
    [
      { messages: [{ role: 'assistant', content: 'a', thinking: 5 }] },
      /`messages\[0\]\.thinking` to be a text/,
    ],
    [
      { messages: [{ role: 'user', content: 'a', thinking: 'b' }] },
      /`messages\[0\]\.thinking` isn't supported/,
    ],
    [{ think: 'much' }, /`think`/],
    [{ messages: [{ role: 'user', content: 'Hi', images: ['x'] }] }, /`messages\[0\]\.images`/],
    [{ model: 'B' }, /Model `B`/],
  ])('refuses %j with a text, as its clients read it', async (body, error) => {
    const played = await chat();
    const response = await played.ask(body);
    expect(await response.json()).toMatchObject({ error: expect.stringMatching(error) });
    expect(response.ok).toBe(false);
  });
});

describe("Ollama's generate", () => {
  it('asks a model without a chat template with the plain text, and another with a chat', async () => {
    const played = await play('/api/generate', { prompt: 'Once', stream: false });
    void played.ask({}).catch(() => undefined);
    expect((await played.submission()).input).toBe('Once');
    const chatting = await play('/api/generate', { prompt: 'Once', system: 'Be brief.', stream: false });
    void chatting.ask({}).catch(() => undefined);
    expect((await chatting.submission()).input).toEqual([
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'Once' },
    ]);
  });

  it.each([
    [{ options: { num_predict: -1 } }, { n: 1, maxNewTokens: Number.MAX_SAFE_INTEGER }],
    [
      { options: { num_predict: -2 }, raw: true },
      { n: 1, maxNewTokens: Number.MAX_SAFE_INTEGER },
    ],
    [{ options: { num_predict: 7 } }, { n: 1, maxNewTokens: 7 }],
    [{ think: false }, { n: 1 }],
    [{ think: 'none', raw: true }, { n: 1 }],
  ])('asks for the continuation of a text with %j by options that a text has', async (body, options) => {
    const played = await play('/api/generate', { prompt: 'Once', stream: false });
    void played.ask(body).catch(() => undefined);
    expect(await played.submission()).toMatchObject({ input: 'Once' });
    expect((await played.submission()).options).toEqual({ ...options, seed: expect.any(Number) });
  });

  it.each([
    [{ raw: true }, /^`think` needs the chat template/],
    [{}, /^`A` does not support thinking/],
  ])('refuses to think about a text with %j', async (body, error) => {
    const played = await play('/api/generate', { prompt: 'Once', stream: false, think: true });
    const response = await played.ask(body);
    expect([response.status, await response.json()]).toEqual([
      400,
      expect.objectContaining({ error: expect.stringMatching(error) }),
    ]);
    expect(played.submittedIds).toEqual([]);
  });

  it('has its text in `response`', async () => {
    const played = await play('/api/generate', { prompt: 'Once', raw: true, stream: false });
    const answer = played.ask({});
    const { requestId } = await played.submission();
    played.finish(requestId, 'A', { usage, timings });
    expect(await (await answer).json()).toMatchObject({ response: '!', done: true, done_reason: 'length' });
  });

  it.each([{ suffix: 'x' }, { images: ['x'] }, { context: [1] }, { template: 'x' }])(
    'refuses %j by its name',
    async (body) => {
      const played = await play('/api/generate', { prompt: 'Once' });
      const [name = ''] = Object.keys(body);
      const response = await played.ask(body);
      expect([response.status, await response.json()]).toEqual([
        400,
        expect.objectContaining({ error: expect.stringContaining(name) }),
      ]);
    },
  );

  it('refuses a system prompt without the template that would write it', async () => {
    const played = await play('/api/generate', { prompt: 'Once', raw: true, system: 'Be brief.' });
    const response = await played.ask({});
    expect([response.status, await response.json()]).toEqual([
      400,
      expect.objectContaining({ error: expect.stringMatching(/^`system` needs the chat template/) }),
    ]);
  });
});

describe("Ollama's vectors", () => {
  const embedding = { embedding: Float32Array.of(1, 0), numTokens: 2 };

  async function embed(path: string, body: object) {
    const { bridge, url } = await mountBridge();
    const asked: object[] = [];
    answerWith(bridge, (_, options) => {
      asked.push(options);
      return Promise.resolve(embedding);
    });
    const response = await fetch(url + path, { method: 'POST', body: JSON.stringify(body) });
    return { asked, response };
  }

  it('are those of the beginning of a text that is too long, unless it may not be cut', async () => {
    const { asked } = await embed('/api/embed', { input: 'a' });
    expect(asked).toMatchObject([{ truncate: true }]);
    const kept = await embed('/api/embed', { input: 'a', truncate: false });
    expect(kept.asked).toMatchObject([{ truncate: false }]);
  });

  it.each([
    [{ options: { foo: 1 } }, /`options\.foo`/],
    [{ options: 'x' }, /`options` to be an object/],
    [{ options: { num_ctx: 'abc' } }, /`options\.num_ctx`/],
    [{ keep_alive: {} }, /`keep_alive`/],
  ])('are refused for %j', async (body, error) => {
    for (const [path, field] of [
      ['/api/embed', 'input'],
      ['/api/embeddings', 'prompt'],
    ] as const) {
      const { response } = await embed(path, { [field]: 'a', ...body });
      expect([response.status, await response.json()]).toMatchObject([
        400,
        { error: expect.stringMatching(error) },
      ]);
    }
  });
});

it('models in memory are those that were not ejected, encoders included; the others are there all the same', async () => {
  const backend = { name: 'wasm', precision: 'fp32', adapter: 'CPU', fallbackReason: '' } as const;
  const encoder = { numParameters: 1, maxTokens: 8, vocabSize: 9, dimensions: 2, prompts: [], backend };
  const status = createWorkerStatus({
    state: 'ready',
    model: createModelInfo({ id: 'a/chat' }),
    isEjected: true,
    encoders: [
      { ...encoder, deployment: 'embedder', id: 'a/bert', isEjected: true },
      { ...encoder, deployment: 'reranker', id: 'a/cross' },
    ],
  });
  const namesAt = async (path: string): Promise<string> => {
    const played = new PlayedRoute({});
    await played.listen(path, (serve) => {
      const { methods, ...route } = routeAt(path, serve);
      return { ...route, methods: methods.GET ? { POST: methods.GET } : {} };
    });
    played.welcome();
    played.say({ type: 'status', status });
    return [...(await (await played.ask({})).text()).matchAll(/"name":"([^"]+)"/g)]
      .map(([, name]) => name)
      .join();
  };
  expect(await namesAt('/api/ps')).toBe('a/cross');
  expect(await namesAt('/api/tags')).toBe('a/chat,a/bert,a/cross');
});
