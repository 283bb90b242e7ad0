import OpenAI, { BadRequestError } from 'openai';

import { TOOL_MODEL } from '../tools/hub-server/checkpoints/chat-checkpoint.ts';
import type { ServedBridge } from './support/bridge-test.ts';
import { expect, hello, test } from './support/chat-bridge-test.ts';
import { ANY_BACKEND } from './support/test.ts';

test.use({ chatModel: TOOL_MODEL });

const CITIES = ['Rome', 'Oslo'];
const WEATHER_SCHEMA = {
  type: 'object',
  properties: { city: { enum: CITIES }, days: { type: 'integer', minimum: 1, maximum: 9 } },
  required: ['city', 'days'],
};
const TOOLS: OpenAI.ChatCompletionFunctionTool[] = [
  { type: 'function', function: { name: 'weather', description: 'Looks.', parameters: WEATHER_SCHEMA } },
  { type: 'function', function: { name: 'now' } },
];
const PERSON = {
  type: 'object',
  properties: {
    name: { type: 'string', maxLength: 8 },
    tags: { type: 'array', items: { enum: ['a', 'b'] }, maxItems: 3 },
  },
  required: ['name', 'tags'],
};
/** The token that begins a call. The random model hardly ever writes it. */
const CALL_TOKEN = 256;
const THINK_END_TOKEN = 259;
const ASKED = { model: TOOL_MODEL, messages: [hello], temperature: 1.2, max_completion_tokens: 300 };
const SEEDS = [1, 2, 3, 4];

function clientOf({ url }: ServedBridge): OpenAI {
  return new OpenAI({ apiKey: 'none', baseURL: `${url}/v1`, maxRetries: 0 });
}

function expectWeather(json: string): void {
  const input: unknown = JSON.parse(json);
  expect(input).toEqual({ city: expect.any(String), days: expect.any(Number) });
  expect(input).toMatchObject({ city: expect.stringMatching(/^(Rome|Oslo)$/) });
}

/** The message and the end of an answer that a client has streamed. */
async function joined(stream: AsyncIterable<OpenAI.ChatCompletionChunk>) {
  const calls: { id: string; name: string; arguments: string }[] = [];
  let [content, reasoning, end, numPieces]: [string, string, string | null, number] = ['', '', null, 0];
  for await (const { choices } of stream) {
    const [choice] = choices;
    if (!choice) continue;
    const delta: OpenAI.ChatCompletionChunk.Choice.Delta & { reasoning_content?: string } = choice.delta;
    content += delta.content ?? '';
    reasoning += delta.reasoning_content ?? '';
    end = choice.finish_reason ?? end;
    for (const { index, id, type, function: called } of delta.tool_calls ?? []) {
      if (id !== undefined) {
        expect([type, index, called?.arguments]).toEqual(['function', calls.length, '']);
        calls.push({ id, name: called?.name ?? '', arguments: '' });
      } else {
        const call = calls[index];
        if (!call) throw new Error(`Arguments of call ${index}, which has not begun.`);
        call.arguments += called?.arguments ?? '';
        numPieces += 1;
      }
    }
  }
  return { content, reasoning, calls, end, numPieces };
}

test.describe("a shape, by OpenAI's client", { tag: ANY_BACKEND }, () => {
  test('is that of every answer, streamed and not, beside answers of no shape', async ({ chat }) => {
    const { completions } = clientOf(chat).chat;
    const format = {
      type: 'json_schema',
      json_schema: { name: 'person', schema: PERSON, strict: true },
    } as const;
    const free = { ...ASKED, seed: 5, max_completion_tokens: 40 };
    const alone = await completions.create(free);
    const [beside, ...shaped] = await Promise.all([
      completions.create(free),
      ...SEEDS.map((seed) => completions.create({ ...ASKED, seed, response_format: format })),
    ]);
    expect(beside.choices).toEqual(alone.choices);
    for (const [index, seed] of SEEDS.entries()) {
      const [choice] = shaped[index]?.choices ?? [];
      expect(choice?.finish_reason).toBe('stop');
      const text = choice?.message.content ?? '';
      expect(JSON.parse(text)).toEqual({ name: expect.any(String), tags: expect.any(Array) });
      const streamed = await joined(
        await completions.create({ ...ASKED, seed, response_format: format, stream: true }),
      );
      expect(streamed.content).toBe(text);
    }
  });

  test("may be vLLM's: a choice, a pattern, a grammar, a structural tag", async ({ chat }) => {
    const { chat: chats, completions } = clientOf(chat);
    const asked = async (structured_outputs: object) => {
      const body = { ...ASKED, seed: 3, structured_outputs };
      return (await chats.completions.create(body)).choices[0]?.message.content;
    };
    expect(CITIES).toContain(await asked({ choice: CITIES }));
    expect(await asked({ regex: '[a-c]{3}-[0-9]{2}' })).toMatch(/^[a-c]{3}-\d{2}$/);
    expect(await asked({ grammar: 'root ::= "x" ("y" | "z") "!"' })).toMatch(/^x[yz]!$/);
    const tag = {
      type: 'tag',
      begin: '<a>',
      content: { type: 'json_schema', json_schema: { enum: [1, 2] } },
      end: '</a>',
    };
    expect(await asked({ structural_tag: { type: 'structural_tag', format: tag } })).toMatch(
      /^<a>[12]<\/a>$/,
    );
    const text = { model: TOOL_MODEL, prompt: 'a', seed: 3, structured_outputs: { choice: CITIES } };
    expect(CITIES).toContain((await completions.create(text)).choices[0]?.text);
  });

  test('that cannot be enforced is refused by name', async ({ chat }) => {
    const { completions } = clientOf(chat).chat;
    const schema = { type: 'object', properties: { a: { type: 'array', contains: { type: 'number' } } } };
    const format = { type: 'json_schema', json_schema: { name: 'n', schema } } as const;
    const error: unknown = await completions
      .create({ ...ASKED, response_format: format })
      .catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(BadRequestError);
    expect(error).toMatchObject({
      code: 'RESPONSE_FORMAT_UNSUPPORTED',
      param: 'response_format',
      message: expect.stringMatching(/`response_format\.json_schema\.schema\.properties\.a\.contains`/),
    });
  });

  test('begins behind the thinking, which is told apart', async ({ chat }) => {
    const { completions } = clientOf(chat).chat;
    const thinking = {
      ...ASKED,
      chat_template_kwargs: { begin_thinking: true },
      structured_outputs: { choice: CITIES },
    };
    for (const seed of SEEDS) {
      // Ends the thinking of some seeds at once.
      const asked = { ...thinking, seed, logit_bias: { [THINK_END_TOKEN]: seed % 2 === 0 ? 12 : 100 } };
      const { choices } = await completions.create(asked);
      const message: (OpenAI.ChatCompletionMessage & { reasoning_content?: string }) | undefined =
        choices[0]?.message;
      if (choices[0]?.finish_reason === 'stop') expect(CITIES).toContain(message?.content);
      else expect([message?.content, message?.reasoning_content]).toEqual(['', expect.any(String)]);
      const streamed = await joined(await completions.create({ ...asked, stream: true }));
      expect([streamed.content, streamed.reasoning]).toEqual([
        message?.content,
        message?.reasoning_content ?? '',
      ]);
    }
  });

  test('is that of a response, too', async ({ chat }) => {
    const { responses } = clientOf(chat);
    const format = { type: 'json_schema', name: 'person', schema: PERSON } as const;
    const { output_text: text } = await responses.create({
      model: TOOL_MODEL,
      input: 'Hello',
      temperature: 1.2,
      text: { format },
    });
    expect(JSON.parse(text)).toEqual({ name: expect.any(String), tags: expect.any(Array) });
  });
});

test.describe("tools, by OpenAI's client", { tag: ANY_BACKEND }, () => {
  test('are called where a call is required, streamed and not', async ({ chat }) => {
    const { completions } = clientOf(chat).chat;
    for (const seed of SEEDS) {
      const asked = {
        ...ASKED,
        seed,
        tools: TOOLS,
        tool_choice: 'required',
        parallel_tool_calls: false,
      } as const;
      const [choice] = (await completions.create(asked)).choices;
      const calls = choice?.message.tool_calls ?? [];
      expect(choice).toMatchObject({ finish_reason: 'tool_calls', message: { content: null } });
      expect(calls).toHaveLength(1);
      const streamed = await joined(await completions.create({ ...asked, stream: true }));
      expect(streamed).toMatchObject({ content: '', end: 'tool_calls' });
      const own = calls.map((call) => (call.type === 'function' ? call.function : undefined));
      expect(streamed.calls.map(({ id: _id, ...call }) => call)).toEqual(own);
      if (own[0]?.name === 'weather') expectWeather(own[0].arguments);
      else expect(own[0]).toMatchObject({ name: 'now' });
    }
  });

  test('are the one that is named', async ({ chat }) => {
    const { completions } = clientOf(chat).chat;
    const tool_choice = { type: 'function', function: { name: 'weather' } } as const;
    const stream = await completions.create({ ...ASKED, seed: 1, tools: TOOLS, tool_choice, stream: true });
    const { calls, numPieces } = await joined(stream);
    expect(calls.map(({ name }) => name)).toEqual(['weather']);
    expectWeather(calls[0]?.arguments ?? '');
    expect(numPieces).toBeGreaterThan(1);
  });

  test('are called in free text as the model likes, each call by its schema', async ({ chat }) => {
    const { completions } = clientOf(chat).chat;
    const asked = { ...ASKED, seed: 2, tools: TOOLS.slice(0, 1), max_completion_tokens: 60 };
    const { choices } = await completions.create(asked);
    expect(choices[0]?.message.tool_calls).toBeUndefined();
    const stream = await completions.create({
      ...asked,
      logit_bias: { [CALL_TOKEN]: 100 },
      max_completion_tokens: 400,
      stream: true,
    });
    const { calls, end } = await joined(stream);
    expect(calls.length).toBeGreaterThan(1);
    expect(new Set(calls.map(({ id }) => id)).size).toBe(calls.length);
    for (const { name, arguments: json } of end === 'length' ? calls.slice(0, -1) : calls) {
      expect(name).toBe('weather');
      expectWeather(json);
    }
  });

  test('are told of in the next turn', async ({ chat }) => {
    const { completions } = clientOf(chat).chat;
    const tool_choice = { type: 'function', function: { name: 'weather' } } as const;
    const first = await completions.create({ ...ASKED, seed: 1, tools: TOOLS, tool_choice });
    const message = first.choices[0]?.message;
    if (!message) throw new Error('No answer came.');
    const [call] = message.tool_calls ?? [];
    const messages = [hello, message, { role: 'tool', tool_call_id: call?.id ?? '', content: '21' } as const];
    const second = await completions.create({
      ...ASKED,
      messages,
      tools: TOOLS,
      tool_choice: 'none',
      max_completion_tokens: 5,
    });
    expect(second.choices[0]?.finish_reason).toBe('length');
    const stray = [hello, { role: 'tool', tool_call_id: 'call_7', content: '21' } as const];
    await expect(completions.create({ ...ASKED, messages: stray })).rejects.toMatchObject({
      status: 400,
      param: 'messages[1].tool_call_id',
      message: expect.stringContaining('`messages[1].tool_call_id`'),
    });
  });

  test('are items of a response', async ({ chat }) => {
    const { responses } = clientOf(chat);
    const tools = [{ type: 'function', name: 'weather', parameters: WEATHER_SCHEMA, strict: true } as const];
    const asked = {
      model: TOOL_MODEL,
      input: 'Hello',
      tools,
      tool_choice: 'required',
      parallel_tool_calls: false,
    } as const;
    const stream = responses.stream(asked);
    const pieces: string[] = [];
    for await (const event of stream)
      if (event.type === 'response.function_call_arguments.delta') pieces.push(event.delta);
    const { output } = await stream.finalResponse();
    const [item] = output;
    if (item?.type !== 'function_call') throw new Error(`The first item is ${item?.type}.`);
    expect(pieces.join('')).toBe(item.arguments);
    expectWeather(item.arguments);
    const next = await responses.create({
      model: TOOL_MODEL,
      max_output_tokens: 4,
      input: [
        { role: 'user', content: 'Hello' },
        { type: 'function_call', call_id: item.call_id, name: item.name, arguments: item.arguments },
        { type: 'function_call_output', call_id: item.call_id, output: '21' },
      ],
    });
    expect(next.output).toMatchObject([{ type: 'message' }]);
  });

  test('that contradict a shape, or are none of the request, are refused', async ({ chat }) => {
    const { completions } = clientOf(chat).chat;
    const shape = { response_format: { type: 'json_object' } } as const;
    const stray = { tool_choice: { type: 'function', function: { name: 'sing' } } } as const;
    for (const [more, message] of [
      [{ ...shape, tool_choice: 'required' }, 'beside responseFormat'],
      [stray, 'the name of one of the tools: weather, now'],
    ] as const)
      await expect(completions.create({ ...ASKED, tools: TOOLS, ...more })).rejects.toMatchObject({
        status: 400,
        param: 'tool_choice',
        message: expect.stringContaining(message),
      });
  });
});
