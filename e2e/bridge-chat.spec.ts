import OpenAI, { BadRequestError, NotFoundError } from 'openai';

import { CHAT_MODEL } from '../tools/hub-server/checkpoints/chat-checkpoint.ts';
import { test as bridgeTest, type ServedBridge } from './support/bridge-test.ts';
import { expect, hello, inPage, MESSAGES, SAMPLED, system, test } from './support/chat-bridge-test.ts';
import { ANY_BACKEND } from './support/test.ts';

function clientOf({ url }: ServedBridge): OpenAI {
  return new OpenAI({ apiKey: 'none', baseURL: `${url}/v1`, maxRetries: 0 });
}

test.describe("OpenAI's own client", { tag: ANY_BACKEND }, () => {
  test('gets the answer to a chat as the page does', async ({ chat }) => {
    const expected = await inPage(chat, { ...SAMPLED, maxNewTokens: 12 });
    const { usage, choices, ...head } = await clientOf(chat).chat.completions.create({
      model: CHAT_MODEL,
      messages: MESSAGES,
      max_completion_tokens: 12,
      ...SAMPLED,
    });
    expect(expected.generatedText).toMatch(/^[a-z ]+$/);
    expect(head).toMatchObject({
      id: expect.stringMatching(/^chatcmpl-/),
      object: 'chat.completion',
      model: CHAT_MODEL,
      system_fingerprint: expect.stringMatching(/^fp_/),
    });
    expect(choices).toEqual([
      {
        index: 0,
        message: { role: 'assistant', content: expected.generatedText, refusal: null },
        logprobs: null,
        finish_reason: expected.finishReason,
      },
    ]);
    const { numPromptTokens, numOutputTokens } = expected.usage;
    expect(usage).toMatchObject({
      prompt_tokens: numPromptTokens,
      completion_tokens: numOutputTokens,
      total_tokens: numPromptTokens + numOutputTokens,
    });
  });

  test('has its chat rendered by the template: roles, parts, and variables', async ({ chat }) => {
    const client = clientOf(chat);
    const contentOf = async (messages: OpenAI.ChatCompletionMessageParam[], more: object = {}) => {
      const asked: OpenAI.ChatCompletionCreateParamsNonStreaming = { model: CHAT_MODEL, messages, ...more };
      const { choices } = await client.chat.completions.create({ ...asked, max_tokens: 12, ...SAMPLED });
      return choices[0]?.message.content;
    };
    const { generatedText } = await inPage(chat, { ...SAMPLED, maxNewTokens: 12 });
    expect(await contentOf([{ ...system, role: 'developer' }, hello])).toBe(generatedText);
    const parts = ['Hel', 'lo'].map((text) => ({ type: 'text', text }) as const);
    const inLines = [system, { ...hello, content: 'Hel\nlo' }];
    expect(await contentOf([system, { role: 'user', content: parts }])).toBe(
      (await inPage(chat, { ...SAMPLED, maxNewTokens: 12 }, inLines)).generatedText,
    );
    const variables = { enable_thinking: false };
    expect(await contentOf(MESSAGES, { chat_template_kwargs: variables })).toBe(
      (await inPage(chat, { ...SAMPLED, maxNewTokens: 12, chatTemplateArguments: variables })).generatedText,
    );
  });

  test('streams several answers, with what was used at the end', async ({ chat }) => {
    const client = clientOf(chat);
    const options = { model: CHAT_MODEL, messages: MESSAGES, max_completion_tokens: 10, n: 2, ...SAMPLED };
    const whole = await client.chat.completions.create(options);
    const chunks: OpenAI.ChatCompletionChunk[] = [];
    for await (const chunk of await client.chat.completions.create({
      ...options,
      stream: true,
      stream_options: { include_usage: true },
    }))
      chunks.push(chunk);
    const pieces = chunks.flatMap(({ choices }) => choices);
    for (const { index, message, finish_reason: reason } of whole.choices) {
      const own = pieces.filter((piece) => piece.index === index);
      expect(own[0]?.delta).toEqual({ role: 'assistant', content: '' });
      expect(own.map(({ delta }) => delta.content ?? '').join('')).toBe(message.content);
      expect(own.map((piece) => piece.finish_reason).filter(Boolean)).toEqual([reason]);
      expect(own.length).toBeGreaterThan(5);
    }
    expect(whole.choices).toHaveLength(2);
    expect(chunks.at(-1)).toMatchObject({
      object: 'chat.completion.chunk',
      choices: [],
      usage: {
        prompt_tokens: whole.usage?.prompt_tokens,
        completion_tokens: whole.usage?.completion_tokens,
      },
    });
  });

  test('has its own helper put a stream together', async ({ chat }) => {
    const options = { model: CHAT_MODEL, messages: MESSAGES, max_tokens: 10, ...SAMPLED };
    const client = clientOf(chat);
    const whole = await client.chat.completions.create(options);
    const final = await client.chat.completions.stream(options).finalChatCompletion();
    expect(final.choices[0]?.message).toMatchObject({
      role: 'assistant',
      content: whole.choices[0]?.message.content,
    });
  });

  test('gets log probabilities in the shape of chats, whole and in a stream', async ({ chat }) => {
    const expected = await inPage(chat, { ...SAMPLED, maxNewTokens: 6, logprobs: 3 });
    const options = {
      model: CHAT_MODEL,
      messages: MESSAGES,
      max_completion_tokens: 6,
      logprobs: true,
      top_logprobs: 3,
      ...SAMPLED,
    };
    const client = clientOf(chat);
    const { choices } = await client.chat.completions.create(options);
    const content = choices[0]?.logprobs?.content ?? [];
    expect(content.map(({ token }) => token).join('')).toBe(choices[0]?.message.content);
    expect(content.map(({ logprob }) => logprob)).toEqual(expected.logprobs?.map(({ logprob }) => logprob));
    for (const [index, { token, bytes, top_logprobs: top }] of content.entries()) {
      expect(bytes).toEqual([...Buffer.from(token)]);
      expect(top.map(({ logprob }) => logprob)).toEqual(
        expected.logprobs?.[index]?.top.map(({ logprob }) => logprob),
      );
    }
    const streamed: unknown[] = [];
    for await (const chunk of await client.chat.completions.create({ ...options, stream: true }))
      streamed.push(...(chunk.choices[0]?.logprobs?.content ?? []));
    expect(streamed).toEqual(content);
  });

  test('stops before a stop string', async ({ chat }) => {
    const client = clientOf(chat);
    const options = { model: CHAT_MODEL, messages: MESSAGES, max_completion_tokens: 40, ...SAMPLED };
    const whole = (await client.chat.completions.create(options)).choices[0]?.message.content ?? '';
    const stop = whole.slice(5, 8);
    const { choices } = await client.chat.completions.create({ ...options, stop: [stop, 'NEVER'] });
    expect(choices[0]).toMatchObject({
      message: { content: whole.slice(0, whole.indexOf(stop)) },
      finish_reason: 'stop',
    });
  });

  test('may have an answer that fills the context', async ({ chat }) => {
    const { model } = await chat.tab.status();
    const asked: OpenAI.ChatCompletionCreateParamsNonStreaming & { readonly ignore_eos: boolean } = {
      model: CHAT_MODEL,
      messages: MESSAGES,
      ignore_eos: true,
    };
    const { choices, usage } = await clientOf(chat).chat.completions.create(asked);
    expect(choices[0]?.finish_reason).toBe('length');
    expect(usage?.total_tokens).toBe(model?.contextLength);
  });

  test('is told how many tokens of the next turn were taken over', async ({ chat }) => {
    const client = clientOf(chat);
    const options = { model: CHAT_MODEL, max_completion_tokens: 12, ...SAMPLED };
    const question = { role: 'user', content: 'Tell me of the second turn of a chat.' } as const;
    const first = await client.chat.completions.create({ ...options, messages: [question] });
    const [answer] = first.choices;
    if (!answer) throw new Error('No answer');
    const second = await client.chat.completions.create({
      ...options,
      messages: [question, answer.message, hello],
    });
    const cached = second.usage?.prompt_tokens_details?.cached_tokens ?? 0;
    expect(cached).toBeGreaterThan(first.usage?.prompt_tokens ?? 0);
    expect(cached).toBeLessThan(second.usage?.prompt_tokens ?? 0);
  });

  test('finds its own classes of errors, which name what is wrong', async ({ chat }) => {
    const client = clientOf(chat);
    const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } } as const;
    const failing = async (more: object) => {
      const asked: OpenAI.ChatCompletionCreateParamsNonStreaming = {
        model: CHAT_MODEL,
        messages: MESSAGES,
        ...more,
      };
      return client.chat.completions.create(asked).then(
        () => undefined,
        (error: unknown) => error,
      );
    };
    for (const [more, param, message] of [
      [{ messages: [] }, 'messages', 'at least one message'],
      [{ messages: [{ role: 'user', content: [image] }] }, 'messages[0].content[0]', 'only text'],
      [
        { messages: [{ role: 'tool', content: 'a', tool_call_id: '1' }] },
        'messages[0].tool_call_id',
        '`messages[0].tool_call_id`',
      ],
      [{ messages: [{ role: 'assistant', content: null }] }, 'messages[0].content', 'a text'],
      [{ messages: [hello, system] }, 'messages', 'the system message has to be the first'],
      [{ tools: [{ type: 'function', function: { name: 'f' } }] }, 'tools', 'takes no tools'],
      [{ response_format: { type: 'xml' } }, 'response_format.type', 'json_schema'],
      [{ max_completion_tokens: -1 }, 'max_completion_tokens', '`max_completion_tokens` to be'],
      [{ logprobs: true, top_logprobs: 21 }, 'top_logprobs', '`top_logprobs` to be'],
      [{ temperature: -1 }, 'temperature', '`temperature` to be'],
      [{ prompt: 'Once' }, 'prompt', 'Unknown option'],
    ] as const) {
      const error = await failing(more);
      expect(error, JSON.stringify(more)).toBeInstanceOf(BadRequestError);
      expect(error).toMatchObject({ param, message: expect.stringContaining(message) });
    }
    const long = { role: 'user', content: 'Once upon a time. '.repeat(200) };
    expect(await failing({ messages: [long] })).toMatchObject({
      status: 400,
      code: 'context_length_exceeded',
      param: 'messages',
    });
    expect(await failing({ model: 'gpt-5' })).toBeInstanceOf(NotFoundError);
  });

  test('aborts a stream, which frees its slot', async ({ chat }) => {
    const { tab, log } = chat;
    await tab.configure({ maxBatchSize: 1 });
    const asked: OpenAI.ChatCompletionCreateParamsStreaming & { readonly ignore_eos: boolean } = {
      model: CHAT_MODEL,
      messages: MESSAGES,
      ignore_eos: true,
      stream: true,
    };
    // The context of this small model may be full before the abort arrives: then it is asked again.
    await expect(async () => {
      const controller = new AbortController();
      const before = log.length;
      const stream = await clientOf(chat).chat.completions.create(asked, { signal: controller.signal });
      let numChunks = 0;
      for await (const _ of stream) if (++numChunks === 3) controller.abort();
      const after = await inPage(chat, { maxNewTokens: 1 });
      expect(after.usage.numOutputTokens).toBe(1);
      await expect
        .poll(() => log.slice(before).map(({ status, path }) => [status, path]), { timeout: 5000 })
        .toEqual([[499, '/v1/chat/completions']]);
    }).toPass({ timeout: 60_000 });
  });

  test('has its chats in one batch with what else runs', async ({ chat }) => {
    const { tab } = chat;
    const client = clientOf(chat);
    // The eight arrive over as many connections; they begin when all are there.
    await tab.configure({ batchWaitTimeoutMs: 20_000 });
    // Steps of the test before are reported by then.
    await tab.whenIdle();
    await tab.forget();
    const options = { model: CHAT_MODEL, ...SAMPLED };
    const limit: OpenAI.ChatCompletionCreateParamsNonStreaming & { readonly ignore_eos: boolean } = {
      ...options,
      messages: MESSAGES,
      max_completion_tokens: 60,
      ignore_eos: true,
    };
    const text: OpenAI.CompletionCreateParamsNonStreaming & { readonly ignore_eos: boolean } = {
      ...options,
      prompt: 'once upon',
      max_tokens: 60,
      ignore_eos: true,
    };
    const chats = Array.from({ length: 4 }, () => client.chat.completions.create(limit));
    const texts = Array.from({ length: 3 }, () => client.completions.create(text));
    const inTab = inPage(chat, { ...SAMPLED, maxNewTokens: 60, ignoreEos: true });
    const answers = await Promise.all(chats);
    const continued = await Promise.all(texts);
    const expected = (await inTab).generatedText;
    expect(answers.map(({ choices }) => choices[0]?.message.content)).toEqual(chats.map(() => expected));
    expect(new Set(continued.map(({ choices }) => choices[0]?.text)).size).toBe(1);
    const steps = await tab.steps('decode');
    expect(Math.max(...steps.map(({ batchSize }) => batchSize))).toBe(8);
    // One by one they would take 8 × 60 steps.
    expect(steps.length).toBeLessThan(200);
  });
});

bridgeTest(
  'a chat for a base model is refused, and says what to load',
  { tag: ANY_BACKEND },
  async ({ served }) => {
    const asked = clientOf(served).chat.completions.create({ model: 'storyteller', messages: MESSAGES });
    await expect(asked).rejects.toMatchObject({
      status: 400,
      code: 'NO_CHAT_TEMPLATE',
      message: expect.stringContaining('storyteller is a base model: it has no chat template'),
    });
  },
);
