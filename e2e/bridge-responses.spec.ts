import { Agent, OpenAIProvider, Runner, user } from '@openai/agents';
import OpenAI, { BadRequestError } from 'openai';

import { CHAT_MODEL } from '../tools/hub-server/checkpoints/chat-checkpoint.ts';
import type { ServedTab } from './support/bridge-test.ts';
import { expect, hello, inPage, SAMPLED, system, test } from './support/chat-bridge-test.ts';
import { ANY_BACKEND } from './support/test.ts';

const ASKED = {
  model: CHAT_MODEL,
  instructions: system.content,
  input: hello.content,
  ...SAMPLED,
};

function clientOf({ url }: ServedTab): OpenAI {
  return new OpenAI({ apiKey: 'none', baseURL: `${url}/v1`, maxRetries: 0 });
}

function runnerOf({ url }: ServedTab): Runner {
  return new Runner({
    modelProvider: new OpenAIProvider({ apiKey: 'none', baseURL: `${url}/v1` }),
    tracingDisabled: true,
  });
}

test.describe("OpenAI's own client of responses", { tag: ANY_BACKEND }, () => {
  test('gets the answer to a text as the page does, whole or up to a limit', async ({ chat }) => {
    const client = clientOf(chat);
    for (const maxNewTokens of [undefined, 5]) {
      const expected = await inPage(chat, { ...SAMPLED, ...(maxNewTokens && { maxNewTokens }) });
      const { numPromptTokens, numOutputTokens } = expected.usage;
      const response = await client.responses.create({ ...ASKED, max_output_tokens: maxNewTokens ?? null });
      expect(response).toMatchObject({
        model: CHAT_MODEL,
        output_text: expected.generatedText,
        status: maxNewTokens ? 'incomplete' : 'completed',
        incomplete_details: maxNewTokens ? { reason: 'max_output_tokens' } : null,
        usage: { input_tokens: numPromptTokens, output_tokens: numOutputTokens },
      });
    }
  });

  test('sends the answer back with the next turn', async ({ chat }) => {
    const client = clientOf(chat);
    const first = await client.responses.create(ASKED);
    const next = { role: 'user', content: 'Go on' } as const;
    const second = await client.responses.create({
      ...ASKED,
      input: [hello, ...first.output.filter((item) => item.type === 'message'), next],
    });
    const answer = { role: 'assistant', content: first.output_text };
    const expected = await inPage(chat, SAMPLED, [system, hello, answer, next]);
    expect(second.output_text).toBe(expected.generatedText);
  });

  test('has its own helper put a stream together', async ({ chat }) => {
    const client = clientOf(chat);
    const whole = await client.responses.create(ASKED);
    const stream = client.responses.stream(ASKED);
    const deltas: string[] = [];
    stream.on('response.output_text.delta', ({ delta }) => deltas.push(delta));
    const final = await stream.finalResponse();
    expect(final).toMatchObject({ status: 'completed', output_text: whole.output_text });
    expect(deltas.join('')).toBe(whole.output_text);
    expect(deltas.length).toBeGreaterThan(5);
  });

  test('finds an error of its own class, and ends a request that it leaves', async ({ chat }) => {
    const client = clientOf(chat);
    const refused = client.responses.create({ ...ASKED, previous_response_id: 'resp_1' });
    await expect(refused).rejects.toThrow(BadRequestError);
    await expect(refused).rejects.toMatchObject({
      param: 'previous_response_id',
      message: expect.stringContaining('nothing is stored here'),
    });
    const stream = await client.responses.create({ ...ASKED, max_output_tokens: 900, stream: true });
    for await (const { type } of stream) if (type === 'response.output_text.delta') break;
    // The fixture waits until nothing runs.
  });
});

test.describe("OpenAI's agents", { tag: ANY_BACKEND }, () => {
  const agent = new Agent({
    name: 'Tab',
    instructions: system.content,
    model: CHAT_MODEL,
    modelSettings: { temperature: SAMPLED.temperature, providerData: { seed: SAMPLED.seed } },
  });

  test('run and stream with the API that they use by default', async ({ chat }) => {
    const runner = runnerOf(chat);
    const expected = await inPage(chat, SAMPLED);
    const { finalOutput, history } = await runner.run(agent, hello.content);
    expect(finalOutput).toBe(expected.generatedText);

    const streamed = await runner.run(agent, hello.content, { stream: true });
    const deltas: string[] = [];
    for await (const event of streamed)
      if (event.type === 'raw_model_stream_event' && event.data.type === 'output_text_delta')
        deltas.push(event.data.delta);
    await streamed.completed;
    expect([streamed.finalOutput, deltas.join('')]).toEqual([finalOutput, finalOutput]);
    expect(deltas.length).toBeGreaterThan(1);

    const turns = [...history, user('Go on')];
    const second = await runner.run(agent, turns);
    const messages = [
      system,
      hello,
      { role: 'assistant', content: finalOutput },
      { role: 'user', content: 'Go on' },
    ];
    expect(second.finalOutput).toBe((await inPage(chat, SAMPLED, messages)).generatedText);
  });
});
