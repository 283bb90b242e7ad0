import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { AIMessage, HumanMessage, SystemMessage } from '@langchain/core/messages';
import { ChatOpenAI } from '@langchain/openai';
import { APICallError, generateText, streamText, type LanguageModel } from 'ai';

import { CHAT_MODEL } from '../tools/hub-server/checkpoints/chat-checkpoint.ts';
import type { ServedBridge } from './support/bridge-test.ts';
import { expect, hello, inPage, SAMPLED, system, test } from './support/chat-bridge-test.ts';
import { ANY_BACKEND } from './support/test.ts';

function aiSdkModel({ url }: ServedBridge): LanguageModel {
  const provider = createOpenAICompatible({ name: 'tabserve', baseURL: `${url}/v1`, includeUsage: true });
  return provider.chatModel(CHAT_MODEL);
}

function langChainModel({ url }: ServedBridge, useResponsesApi = false): ChatOpenAI {
  return new ChatOpenAI({
    model: CHAT_MODEL,
    apiKey: 'none',
    configuration: { baseURL: `${url}/v1` },
    maxRetries: 0,
    useResponsesApi,
    temperature: SAMPLED.temperature,
    maxTokens: 12,
    modelKwargs: { seed: SAMPLED.seed },
  });
}

test.describe("Vercel's AI SDK", { tag: ANY_BACKEND }, () => {
  test('generates and streams the answer to a chat', async ({ chat }) => {
    const expected = await inPage(chat, { ...SAMPLED, maxNewTokens: 12 });
    const { numPromptTokens, numOutputTokens } = expected.usage;
    const asked = {
      model: aiSdkModel(chat),
      instructions: system.content,
      prompt: hello.content,
      maxOutputTokens: 12,
      maxRetries: 0,
      ...SAMPLED,
    };
    const { text, finishReason, usage } = await generateText(asked);
    expect([text, finishReason]).toEqual([expected.generatedText, expected.finishReason]);
    expect(usage).toMatchObject({ inputTokens: numPromptTokens, outputTokens: numOutputTokens });
    const stream = streamText(asked);
    const pieces: string[] = [];
    for await (const piece of stream.textStream) pieces.push(piece);
    expect(pieces.join('')).toBe(expected.generatedText);
    expect(pieces.length).toBeGreaterThan(5);
    expect(await stream.finishReason).toBe(expected.finishReason);
    expect(await stream.usage).toMatchObject({ inputTokens: numPromptTokens, outputTokens: numOutputTokens });
  });

  test('finds an error of its own class', async ({ chat }) => {
    const failing = generateText({ model: aiSdkModel(chat), prompt: 'a', temperature: -1, maxRetries: 0 });
    const error: unknown = await failing.catch((reason: unknown) => reason);
    expect(APICallError.isInstance(error)).toBe(true);
    expect(error).toMatchObject({ statusCode: 400, message: expect.stringContaining('`temperature`') });
  });
});

test.describe('LangChain', { tag: ANY_BACKEND }, () => {
  for (const useResponsesApi of [false, true])
    test(`invokes, batches and streams a chat model ${useResponsesApi ? 'by responses' : 'by completions'}`, async ({
      chat,
    }) => {
      const model = langChainModel(chat, useResponsesApi);
      const messages = [new SystemMessage(system.content), new HumanMessage(hello.content)];
      const expected = await inPage(chat, { ...SAMPLED, maxNewTokens: 12 });
      const { numPromptTokens, numOutputTokens } = expected.usage;
      const answer = await model.invoke(messages);
      expect(answer.text).toBe(expected.generatedText);
      expect(answer.usage_metadata).toMatchObject({
        input_tokens: numPromptTokens,
        output_tokens: numOutputTokens,
      });
      const path = useResponsesApi ? '/v1/responses' : '/v1/chat/completions';
      await expect.poll(() => chat.log.at(-1)?.path).toBe(path);
      const all = await model.batch([messages, messages, messages]);
      expect(all.map(({ text }) => text)).toEqual(all.map(() => expected.generatedText));
      const pieces: string[] = [];
      for await (const { text } of await model.stream(messages)) pieces.push(text);
      expect(pieces.join('')).toBe(expected.generatedText);
      expect(pieces.filter(Boolean).length).toBeGreaterThan(5);
    });

  test('sends a whole conversation', async ({ chat }) => {
    const model = langChainModel(chat);
    const first = await model.invoke([new HumanMessage('Hi')]);
    const second = await model.invoke([
      new HumanMessage('Hi'),
      new AIMessage(first.text),
      new HumanMessage('Go on'),
    ]);
    const messages = [
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content: first.text },
      { role: 'user', content: 'Go on' },
    ];
    const expected = await inPage(chat, { ...SAMPLED, maxNewTokens: 12 }, messages);
    expect(second.text).toBe(expected.generatedText);
  });
});
