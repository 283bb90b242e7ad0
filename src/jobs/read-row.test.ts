import { describe, expect, it } from 'vitest';
import type { JobDefinition } from '../protocol/jobs.ts';
import { rowReader, toResult } from './read-row.ts';

const REQUESTS: JobDefinition = {
  id: 'j1',
  createdAt: '',
  source: 'requests',
  deployment: 'text-generator',
  isChat: false,
  options: {},
  seed: 5,
  columns: [],
};

const textOf = (tokenId: number): string => `<${tokenId}>`;

const readRow = (job: JobDefinition, index: number, row: object) =>
  rowReader(job)(job.seed + index, JSON.stringify(row));

const line = (url: string, body: unknown, given: object = {}) => ({
  custom_id: 'a',
  method: 'POST',
  url,
  body,
  ...given,
});

describe('a row of a table', () => {
  const table: JobDefinition = {
    ...REQUESTS,
    source: 'rows',
    template: 'Is {{a}} red?',
    options: { topK: 4 },
  };

  it('is a text, or a chat with its system message', () => {
    expect(readRow(table, 2, { a: 'A' })).toEqual({
      deployment: 'text-generator',
      input: 'Is A red?',
      options: { seed: 7, topK: 4 },
    });
    expect(readRow({ ...table, isChat: true, system: 'Of {{a}}.' }, 0, { a: 'A' }).input).toEqual([
      { role: 'system', content: 'Of A.' },
      { role: 'user', content: 'Is A red?' },
    ]);
  });

  it('has probabilities of a choice and calls of tools in its result', () => {
    const choice = { text: '', generatedText: 'yes', tokenIds: [], finishReason: 'stop', seed: 0 } as const;
    const toolCalls = [{ id: '1', name: 'f', arguments: '{}' }];
    const choiceProbabilities = [0.75, 0.25];
    const answer = { reasoning: '', content: 'yes', toolCalls };
    const usage = { numPromptTokens: 3, numCachedTokens: 0, numOutputTokens: 2 };
    const given = { ...choice, choices: [choice], choiceProbabilities, answer, usage };
    expect(toResult(table, { ...given, logprobs: [] }, String)).toEqual({
      text: 'yes',
      finishReason: 'stop',
      choiceProbabilities,
      toolCalls,
      numPromptTokens: 3,
      numOutputTokens: 2,
    });
  });

  it('has its tokens with their texts, in all of JSON’s numbers', () => {
    const logprobs = [{ tokenId: 7, logprob: -0.5, top: [{ tokenId: 8, logprob: -Infinity }] }];
    const named = [
      { tokenId: 7, text: '<7>', logprob: -0.5, top: [{ tokenId: 8, text: '<8>', logprob: -9999 }] },
    ];
    const choice = { text: 'a', generatedText: 'a', tokenIds: [7], finishReason: 'stop', seed: 0, logprobs };
    const usage = { numPromptTokens: 3, numCachedTokens: 0, numOutputTokens: 1 };
    const answer = { ...choice, choices: [choice], usage };
    expect(toResult(table, answer, textOf).logprobs).toEqual(named);
    expect(toResult(REQUESTS, answer, textOf)).toMatchObject({ choices: [{ text: 'a', logprobs: named }] });
  });

  it('is a text to embed', () => {
    const options = { truncate: true };
    const job = { ...table, deployment: 'embedder', options } as const;
    expect(readRow(job, 2, { a: 'A' })).toEqual({ deployment: 'embedder', input: 'Is A red?', options });
  });
});

describe('a line of a batch file', () => {
  it('keeps its own seed and options, under our names', () => {
    const body = { model: 'm', prompt: 'Hi', seed: 1, top_k: 3, stop: ['x'], user: null, stream: false };
    expect(readRow(REQUESTS, 0, line('/v1/completions', body))).toEqual({
      deployment: 'text-generator',
      input: 'Hi',
      options: { maxNewTokens: 16, seed: 1, topK: 3, stop: ['x'] },
    });
  });

  it('may be a chat with a shape and tools', () => {
    const schema = { type: 'object' };
    const body = {
      messages: [
        {
          role: 'developer',
          content: [
            { type: 'text', text: 'a' },
            { type: 'text', text: 'b' },
          ],
        },
        {
          role: 'assistant',
          content: null,
          tool_calls: [{ id: 'c', function: { name: 'f', arguments: '{}' } }],
        },
        { role: 'tool', content: '1', tool_call_id: 'c' },
      ],
      max_completion_tokens: 9,
      response_format: { type: 'json_schema', json_schema: { name: 'n', schema } },
      tools: [{ type: 'function', function: { name: 'f', strict: true } }],
      tool_choice: { type: 'function', function: { name: 'f' } },
    };
    expect(readRow(REQUESTS, 1, line('/v1/chat/completions', body))).toEqual({
      deployment: 'text-generator',
      input: [
        { role: 'system', content: body.messages[0]?.content },
        { role: 'assistant', content: null, toolCalls: [{ id: 'c', name: 'f', arguments: '{}' }] },
        { role: 'tool', content: '1', toolCallId: 'c' },
      ],
      options: {
        seed: 6,
        maxNewTokens: 9,
        responseFormat: { type: 'json_schema', schema },
        tools: [{ name: 'f', strict: true }],
        toolChoice: { name: 'f' },
      },
    });
  });

  it('may be texts to embed, or the own input of a deployment', () => {
    expect(readRow(REQUESTS, 0, line('/v1/embeddings', { input: ['a'], dimensions: 8 }))).toEqual({
      deployment: 'embedder',
      input: ['a'],
      options: { dimensions: 8 },
    });
    expect(readRow(REQUESTS, 0, line('text-generator', { input: [1, 2], options: { n: 2 } }))).toEqual({
      deployment: 'text-generator',
      input: [1, 2],
      options: { seed: 5, n: 2 },
    });
  });

  it.each([
    [line('/v1/completions', {}, { custom_id: 3 }), 'custom_id'],
    [line('/v1/completions', {}, { method: 'GET' }), 'method'],
    [line('/v1/completions', 'Hi'), 'body'],
    [line('/v1/images', {}), 'url'],
    [line('/v1/completions', { stream: true }), 'body.stream'],
    [line('/v1/completions', { suffix: 'x' }), 'suffix'],
    [line('/v1/completions', { prompt: ['a', 'b'] }), 'body.prompt'],
    [line('/v1/embeddings', { input: 'a', dimensions: 0 }), 'dimensions'],
    [line('/v1/chat/completions', { messages: 'Hi' }), 'messages'],
    [
      line('/v1/chat/completions', { messages: [{ role: 'user', content: [{ type: 'image_url' }] }] }),
      'messages[0].content[0]',
    ],
    [line('/v1/chat/completions', { messages: [], tools: [1] }), 'tools[0].type'],
    [line('/v1/completions', { response_format: 'json' }), 'response_format'],
    [line('text-generator', { options: 1 }), 'body.options'],
    [line('/v1/completions', { prompt: 'x', echo: true }), 'echo'],
    [line('/v1/completions', { prompt: 'x', prompt_logprobs: 0 }), 'promptLogprobs'],
  ])('is refused with the field that is wrong', (row, place) => {
    const refusal = { code: 'JOB_ROW_INVALID', message: expect.stringContaining(`\`${place}\``) };
    expect(() => readRow(REQUESTS, 0, row)).toThrow(expect.objectContaining(refusal));
  });
});
