import { describe, expect, it } from 'vitest';
import { resolveOptions } from '../resolve-options.ts';
import type { ChatMessage } from '../chat.ts';
import type { GenerationOptions } from '../generation.ts';
import { serverCall, type ServerPrompt } from './completion-body.ts';
import { readServerModel } from './server-model.ts';

const CHAT: readonly ChatMessage[] = [{ role: 'user', content: 'Hi' }];
const CONTEXT_LENGTH = 1024;

function bodyFor(owner: string, options: GenerationOptions, prompt: ServerPrompt = 'Once'): object {
  const model = readServerModel(
    'http://gpu:8000',
    undefined,
    JSON.stringify({ data: [{ id: 'gpt2', owned_by: owner }] }),
  );
  const limits = { ...model.modelInfo, contextLength: CONTEXT_LENGTH, vocabSize: Infinity };
  const resolved = resolveOptions({ seed: 7, ...options }, limits, prompt === CHAT);
  const { path, body } = serverCall(prompt, resolved, model, CONTEXT_LENGTH);
  expect(path).toBe(prompt === CHAT ? '/v1/chat/completions' : '/v1/completions');
  return body;
}

const COMMON = {
  model: 'gpt2',
  prompt: 'Once',
  stream: true,
  stream_options: { include_usage: true },
  max_tokens: 64,
  temperature: 0,
  top_p: 1,
  presence_penalty: 0,
  frequency_penalty: 0,
  seed: 7,
  n: 1,
};

it("names every default to a vLLM, which has others, and asks for its tokens' ids", () => {
  expect(bodyFor('vllm', {})).toEqual({
    ...COMMON,
    stream_options: { include_usage: true, continuous_usage_stats: true },
    top_k: 0,
    min_p: 0,
    repetition_penalty: 1,
    return_token_ids: true,
  });
});

it('says nothing to any other server that OpenAI would not understand, unless it was asked for', () => {
  expect(bodyFor('openai', {})).toEqual(COMMON);
  expect(bodyFor('openai', { topK: 5, stop: 'END', logitBias: { 3: 2 }, echo: true, timeoutMs: 9 })).toEqual({
    ...COMMON,
    top_k: 5,
    stop: ['END'],
    logit_bias: { 3: 2 },
  });
});

it('says what ends a text in vLLM’s words, where it was asked for', () => {
  const ending = { stopTokenIds: [3], includeStopStrInOutput: true, minTokens: 2, ignoreEos: true };
  expect(bodyFor('openai', ending)).toEqual({
    ...COMMON,
    stop_token_ids: [3],
    include_stop_str_in_output: true,
    min_tokens: 2,
    ignore_eos: true,
  });
});

it.each([
  ['the logprobs of the prompt', { promptLogprobs: 3, logprobs: 1 }, { logprobs: 3, max_tokens: 64 }],
  ['nothing generated', { maxNewTokens: 0 }, { max_tokens: 0 }],
])('asks for an echo where it is to have %s', (_, options, expected) => {
  expect(bodyFor('openai', options)).toMatchObject({ ...expected, echo: true });
});

describe('a chat', () => {
  const { prompt: _prompt, max_tokens: _maxTokens, ...common } = COMMON;

  it("goes as its messages, for the server's own template, with no limit but its context", () => {
    expect(bodyFor('openai', {}, CHAT)).toEqual({ ...common, messages: CHAT });
    expect(bodyFor('vllm', {}, CHAT)).toMatchObject({
      messages: CHAT,
      stream_options: { include_usage: true, continuous_usage_stats: true },
      return_token_ids: true,
    });
  });

  it('goes with the options that it has, logprobs in the form of chats', () => {
    const options = { maxNewTokens: 9, logprobs: 2, chatTemplateArguments: { enable_thinking: false } };
    expect(bodyFor('openai', options, CHAT)).toEqual({
      ...common,
      messages: CHAT,
      max_tokens: 9,
      logprobs: true,
      top_logprobs: 2,
      return_tokens_as_token_ids: true,
      chat_template_kwargs: { enable_thinking: false },
    });
  });
});

describe('a shape', () => {
  const schema = { type: 'object' };

  it('whose beginning the prompt has is refused, since no server takes it', () => {
    const responseFormat = { type: 'json_object', prefix: '{' } as const;
    expect(() => bodyFor('vllm', { responseFormat }, CHAT)).toThrow(
      expect.objectContaining({ code: 'RESPONSE_FORMAT_UNSUPPORTED', param: 'responseFormat.prefix' }),
    );
  });

  it.each([
    [{ type: 'json_object' }, { response_format: { type: 'json_object' } }],
    [
      { type: 'json_schema', schema, name: 'pet' },
      { response_format: { type: 'json_schema', json_schema: { name: 'pet', schema, strict: true } } },
    ],
  ] as const)('%j of a chat goes in OpenAI’s words to every server', (responseFormat, expected) => {
    for (const owner of ['openai', 'vllm'])
      expect(bodyFor(owner, { responseFormat }, CHAT)).toMatchObject(expected);
  });

  it.each([
    [{ type: 'choice', choices: ['yes', 'no'] }, { choice: ['yes', 'no'] }],
    [{ type: 'regex', pattern: 'a+' }, { regex: 'a+' }],
    [{ type: 'grammar', grammar: 'root ::= "a"' }, { grammar: 'root ::= "a"' }],
    [
      { type: 'structural_tag', format: { type: 'any_text' } },
      { structural_tag: '{"type":"structural_tag","format":{"type":"any_text"}}' },
    ],
  ] as const)(
    '%j goes in vLLM’s words, and is refused where the server would ignore it',
    (format, expected) => {
      const options = { responseFormat: format };
      for (const prompt of ['Once', CHAT]) {
        expect(bodyFor('vllm', options, prompt)).toMatchObject({ structured_outputs: expected });
        expect(() => bodyFor('openai', options, prompt)).toThrow(
          expect.objectContaining({ code: 'RESPONSE_FORMAT_UNSUPPORTED', param: 'responseFormat' }),
        );
      }
      expect(() => bodyFor('openai', { responseFormat: { type: 'json_object' } })).toThrow('to a chat alone');
    },
  );
});

it('tools and their calls go in OpenAI’s words', () => {
  const tools = [{ name: 'weather', description: 'Tells it', parameters: { type: 'object' } }];
  const call = { id: 'call_1', name: 'weather', arguments: '{}' };
  const messages: readonly ChatMessage[] = [
    ...CHAT,
    { role: 'assistant', content: '', reasoning: 'Hm', toolCalls: [call] },
    { role: 'tool', content: 'Rain', toolCallId: 'call_1' },
  ];
  const { modelInfo, ...model } = readServerModel('http://gpu:8000', undefined, '{"data":[{"id":"gpt2"}]}');
  const bodyOf = (options: GenerationOptions): object =>
    serverCall(
      messages,
      resolveOptions({ tools, ...options }, modelInfo, true),
      { ...model, modelId: 'gpt2' },
      9,
    ).body;
  expect(bodyOf({ toolChoice: { name: 'weather' }, parallelToolCalls: false })).toMatchObject({
    tools: [{ type: 'function', function: tools[0] }],
    tool_choice: { type: 'function', function: { name: 'weather' } },
    parallel_tool_calls: false,
    messages: [
      CHAT[0],
      {
        role: 'assistant',
        content: '',
        reasoning_content: 'Hm',
        tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'weather', arguments: '{}' } }],
      },
      { role: 'tool', content: 'Rain', tool_call_id: 'call_1' },
    ],
  });
  expect(bodyOf({})).toMatchObject({ tool_choice: 'auto' });
  expect(bodyOf({ toolChoice: 'none' })).not.toHaveProperty('tools');
});
