import {
  generateText,
  jsonSchema,
  Output,
  type Schema,
  stepCountIs,
  streamText,
  tool,
  type LanguageModel,
} from 'ai';
import { describe, expect, it } from 'vitest';

import type { AnswerPart } from '../../protocol/answers.ts';
import type { RequestId } from '../../protocol/ids.ts';
import type { PlayedWorker } from '../testing/played-worker.ts';
import { finish, HI, lastOf, setUpSilent, untilSubmitted } from '../testing/played-model.ts';

const CALL = { id: 'call_1', name: 'add', arguments: '{"a":2,"b":3}' };
const add = tool({
  description: 'Adds.',
  inputSchema: jsonSchema<{ a: number; b: number }>({
    type: 'object',
    properties: { a: { type: 'number' }, b: { type: 'number' } },
    required: ['a', 'b'],
  }),
  execute: async ({ a, b }) => ({ sum: a + b }),
});

/** The worker's answer with one call. */
function finishWithCall(worker: PlayedWorker, requestId: RequestId): void {
  const answer = { reasoning: 'Hm.', content: '', toolCalls: [CALL] };
  finish(worker, requestId, { finishReason: 'stop', answer });
}

function send(worker: PlayedWorker, requestId: RequestId, ...parts: readonly AnswerPart[]): void {
  worker.update({ type: 'chunk', requestId, index: 0, text: 'raw', tokenIds: [1], parts });
}

describe('a tool', () => {
  it('is run, and its result asked about in a second step', async () => {
    const { worker, model } = setUpSilent();
    const answering = generateText({
      model,
      prompt: 'Hi',
      tools: { add },
      toolChoice: 'required',
      stopWhen: stepCountIs(2),
      prepareStep: ({ stepNumber }) => ({ toolChoice: stepNumber === 0 ? 'required' : 'auto' }),
    });
    const { requestId, options } = await untilSubmitted(worker);
    expect(options).toMatchObject({
      tools: [{ name: 'add', description: 'Adds.', parameters: { type: 'object', required: ['a', 'b'] } }],
      toolChoice: 'required',
    });
    finishWithCall(worker, requestId);
    await expect.poll(() => worker.submitted.length).toBe(2);
    const second = lastOf(worker);
    expect(second).toMatchObject({
      input: [
        { role: 'user', content: 'Hi' },
        { role: 'assistant', content: '', reasoning: 'Hm.', toolCalls: [CALL] },
        { role: 'tool', content: '{"sum":5}', toolCallId: 'call_1' },
      ],
      options: { toolChoice: 'auto' },
    });
    finish(worker, second.requestId, { finishReason: 'stop' });
    const { text, steps } = await answering;
    expect(text).toBe('Yes');
    expect(steps.map(({ finishReason, reasoningText }) => [finishReason, reasoningText])).toEqual([
      ['tool-calls', 'Hm.'],
      ['stop', undefined],
    ]);
  });

  it("is called piece by piece in a stream, behind the model's reasoning and text", async () => {
    const { worker, model } = setUpSilent();
    const streaming = model.doStream({
      ...HI,
      tools: [{ type: 'function', name: 'add', inputSchema: { type: 'object' } }],
      toolChoice: { type: 'tool', toolName: 'add' },
    });
    const { requestId, options } = await untilSubmitted(worker);
    expect(options).toMatchObject({ toolChoice: { name: 'add' } });
    const pieces = [CALL.arguments.slice(0, 4), CALL.arguments.slice(4)];
    send(worker, requestId, { type: 'reasoning', text: 'Hm' });
    send(worker, requestId);
    send(worker, requestId, { type: 'reasoning', text: '.' }, { type: 'content', text: 'I add.' });
    send(worker, requestId, { type: 'tool-call', index: 0, id: 'call_1', name: 'add' });
    for (const text of pieces) send(worker, requestId, { type: 'tool-arguments', index: 0, text });
    send(worker, requestId, { type: 'tool-call', index: 1, id: 'call_2', name: 'add' });
    finishWithCall(worker, requestId);
    const parts = await Array.fromAsync((await streaming).stream);
    expect(parts.slice(2)).toMatchObject([
      { type: 'reasoning-start', id: '0' },
      { type: 'reasoning-delta', id: '0', delta: 'Hm' },
      { type: 'reasoning-delta', id: '0', delta: '.' },
      { type: 'reasoning-end', id: '0' },
      { type: 'text-start', id: '1' },
      { type: 'text-delta', id: '1', delta: 'I add.' },
      { type: 'text-end', id: '1' },
      { type: 'tool-input-start', id: 'call_1', toolName: 'add' },
      { type: 'tool-input-delta', id: 'call_1', delta: pieces[0] },
      { type: 'tool-input-delta', id: 'call_1', delta: pieces[1] },
      { type: 'tool-input-end', id: 'call_1' },
      { type: 'tool-call', toolCallId: 'call_1', toolName: 'add', input: CALL.arguments },
      { type: 'tool-input-start', id: 'call_2', toolName: 'add' },
      { type: 'tool-input-end', id: 'call_2' },
      { type: 'tool-call', toolCallId: 'call_2', input: '' },
      { type: 'finish', finishReason: { unified: 'tool-calls', raw: 'stop' } },
    ]);
  });

  it('is not called where its answer breaks off', async () => {
    const { worker, model } = setUpSilent();
    const streaming = model.doStream(HI);
    const { requestId } = await untilSubmitted(worker);
    send(worker, requestId, { type: 'tool-call', index: 0, id: 'call_1', name: 'add' });
    worker.update({ type: 'failed', requestId, error: { code: 'MODEL_RUN_FAILED', message: 'No.' } });
    const parts = await Array.fromAsync((await streaming).stream);
    expect(parts.map(({ type }) => type).slice(2)).toEqual([
      'tool-input-start',
      'tool-input-end',
      'error',
      'finish',
    ]);
  });
});

describe('a shape', () => {
  const schema = jsonSchema({
    type: 'object',
    properties: { name: { type: 'string' }, tags: { type: 'array', items: { type: 'string' } } },
  });

  it.each([
    [
      'an object',
      Output.object({ schema, name: 'pet' }),
      '{"name":"Rex","tags":[]}',
      { name: 'Rex', tags: [] },
    ],
    ['an array', Output.array({ element: jsonSchema({ type: 'string' }) }), '{"elements":["a"]}', ['a']],
    ['a choice', Output.choice({ options: ['yes', 'no'] }), '{"result":"no"}', 'no'],
  ])('of %s is asked of the worker, and its answer read', async (_, output, generatedText, expected) => {
    const { worker, model } = setUpSilent();
    const answering = generateText({ model, prompt: 'Hi', output });
    const { requestId, options } = await untilSubmitted(worker);
    expect(options).toMatchObject({ responseFormat: { type: 'json_schema', schema: { type: 'object' } } });
    finish(worker, requestId, { finishReason: 'stop', generatedText });
    expect((await answering).output).toEqual(expected);
  });

  it('comes as growing objects in a stream', async () => {
    const { worker, model } = setUpSilent();
    const partial = objectsOf(model, schema);
    const { requestId } = await untilSubmitted(worker);
    const chunk = { type: 'chunk', requestId, index: 0, tokenIds: [1] } as const;
    worker.update({ ...chunk, text: '{"name":"Rex"' });
    worker.update({ ...chunk, text: ',"tags":["a"]}' });
    finish(worker, requestId, { finishReason: 'stop', generatedText: '{"name":"Rex","tags":["a"]}' });
    expect(await partial).toEqual([{ name: 'Rex' }, { name: 'Rex', tags: ['a'] }]);
  });

  it('without a schema is any object', async () => {
    const { worker, model } = setUpSilent();
    void model.doGenerate({ ...HI, responseFormat: { type: 'json' } });
    expect((await untilSubmitted(worker)).options).toMatchObject({ responseFormat: { type: 'json_object' } });
  });
});

async function objectsOf(model: LanguageModel, schema: Schema): Promise<readonly unknown[]> {
  const { partialOutputStream } = streamText({ model, prompt: 'Hi', output: Output.object({ schema }) });
  return Array.fromAsync(partialOutputStream);
}
