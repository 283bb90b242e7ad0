import { describe, expect, it } from 'vitest';

import type { AnswerPart } from '../../../src/client/index.ts';
import { PlayedRoute } from '../../testing/played-tab.ts';
import { ollamaRoutes } from './ollama-routes.ts';

const usage = { numPromptTokens: 9, numCachedTokens: 4, numOutputTokens: 2 };
const timings = { queueWaitMs: 0, ttftMs: 3, tpotMs: 2, e2eMs: 5 };

async function play(path: string, body: object): Promise<PlayedRoute> {
  const played = new PlayedRoute(body);
  await played.listen(path, (serve) => {
    const route = ollamaRoutes(serve).find((each) => each.path === path);
    if (!route) throw new Error(`There is no route ${path}.`);
    return route;
  });
  played.welcome();
  return played;
}

const chat = (): Promise<PlayedRoute> =>
  play('/api/chat', { model: 'A:latest', messages: [{ role: 'user', content: 'Hello' }] });

const called = (name: string) => ({ function: { name, arguments: { at: name } } });

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

  it.each([
    [{ format: 'json' }, { responseFormat: { type: 'json_object' } }],
    [{ format: { type: 'object' } }, { responseFormat: { type: 'json_schema', schema: { type: 'object' } } }],
    [{ think: false }, { chatTemplateArguments: { enable_thinking: false } }],
    [{ options: { repeat_last_n: 64, temperature: 0 } }, { temperature: 0 }],
  ])('takes %j', async (body, expected) => {
    const played = await chat();
    void played.ask(body).catch(() => undefined);
    expect((await played.submission()).options).toMatchObject(expected);
  });

  it.each([
    [{ options: { mirostat: 2 } }, /`options\.mirostat`/],
    [{ options: { repeat_penalty: 1.1, repeat_last_n: 64 } }, /`options\.repeat_last_n`/],
    [{ options: { tempreature: 1 } }, /`options\.tempreature`.*temperature/],
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
});
