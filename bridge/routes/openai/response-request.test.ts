import { describe, expect, it } from 'vitest';

import { InvalidOptionError } from '../../../src/batching/base/errors.ts';
import { inApiNames } from '../../../src/protocol/openai/generation-request.ts';
import { HttpError } from '../../../src/protocol/openai/http-error.ts';
import { readResponseRequest } from './response-request.ts';

const read = (given: object) => readResponseRequest({ input: 'Hello', ...given });

it('asks for one answer to a text, which may fill the context', () => {
  expect(read({})).toMatchObject({
    isStream: false,
    prompts: [[{ role: 'user', content: 'Hello' }]],
    numChoicesPerPrompt: 1,
  });
  expect(read({}).options).toEqual({ n: 1 });
});

it("reads OpenAI's options, and the generator's others by the names of chat completions", () => {
  const given = {
    model: 'A',
    stream: true,
    stream_options: { include_obfuscation: false },
    user: 'ann',
    max_output_tokens: 9,
    temperature: 0.5,
    top_p: 0.9,
    seed: 7,
    stop: '\n',
    top_k: 3,
    chat_template_kwargs: { enable_thinking: true },
  };
  expect(read(given)).toMatchObject({ model: 'A', isStream: true, user: 'ann' });
  expect(read(given).options).toEqual({
    n: 1,
    maxNewTokens: 9,
    temperature: 0.5,
    topP: 0.9,
    seed: 7,
    stop: '\n',
    topK: 3,
    chatTemplateArguments: { enable_thinking: true },
  });
});

it('reads messages as clients send them, and as answers came', () => {
  const input = [
    { role: 'developer', content: 'Be brief.' },
    { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Hi' }] },
    {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      status: 'completed',
      phase: 'final_answer',
      content: [{ type: 'output_text', text: 'Hello', annotations: [], logprobs: [] }],
    },
    { id: undefined, role: 'user', content: 'Go on' },
  ];
  expect(read({ input }).prompts).toEqual([
    [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: [{ type: 'text', text: 'Hi' }] },
      { role: 'assistant', content: [{ type: 'text', text: 'Hello' }] },
      { role: 'user', content: 'Go on' },
    ],
  ]);
});

it('puts instructions before the input', () => {
  expect(read({ instructions: 'Be brief.' }).prompts).toEqual([
    [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'Hello' },
    ],
  ]);
});

it.each([
  [{ include: ['message.output_text.logprobs'] }, { logprobs: 0 }],
  [{ include: ['message.output_text.logprobs'], top_logprobs: 5 }, { logprobs: 5 }],
  [{ include: [], top_logprobs: 0 }, {}],
])('asks for log probabilities as the API does: %j', (given, expected) => {
  expect(read(given).options).toEqual({ n: 1, ...expected });
});

it('tells a template of a model that reasons not to', () => {
  const chatTemplateArguments = { enable_thinking: false };
  expect(read({ reasoning: { effort: 'none' } }).options).toEqual({ n: 1, chatTemplateArguments });
});

describe('a value that asks for nothing', () => {
  it.each([
    { tools: [], tool_choice: 'auto', parallel_tool_calls: false, max_tool_calls: 3 },
    { tool_choice: 'none' },
    { background: false, truncation: 'disabled', service_tier: 'auto' },
    { text: { format: { type: 'text' }, verbosity: 'medium' } },
    { text: {}, reasoning: {} },
    { reasoning: { effort: null, summary: 'auto' } },
    { include: ['reasoning.encrypted_content'] },
    { store: true, metadata: { run: '7' }, prompt_cache_key: 'a', safety_identifier: 'b' },
    { previous_response_id: null, conversation: null, prompt: null, text: null, reasoning: null },
  ])('is taken, and changes no option: %o', (given) => {
    expect(read(given).options).toEqual({ n: 1 });
  });
});

it('takes a shape, tools, calls and their outputs', () => {
  const schema = { type: 'object' };
  const call = { type: 'function_call', call_id: 'call_1', name: 'add', arguments: '{}' };
  const asked = read({
    text: { format: { type: 'json_schema', name: 'n', schema } },
    tools: [{ type: 'function', name: 'add', parameters: schema, strict: true }],
    tool_choice: { type: 'function', name: 'add' },
    input: [
      { role: 'user', content: 'a' },
      { type: 'reasoning', id: 'rs_1', summary: [] },
      { role: 'assistant', content: 'Wait.' },
      call,
      { type: 'function_call_output', call_id: 'call_1', output: '5' },
      { ...call, id: 'fc_2', status: 'completed', call_id: 'call_2' },
      { type: 'function_call_output', call_id: 'call_2', output: '6' },
    ],
  });
  expect(asked.options).toEqual({
    n: 1,
    responseFormat: { type: 'json_schema', schema },
    tools: [{ name: 'add', parameters: schema, strict: true }],
    toolChoice: { name: 'add' },
  });
  const ownCall = { id: 'call_1', name: 'add', arguments: '{}' };
  expect(asked.prompts).toEqual([
    [
      { role: 'user', content: 'a' },
      { role: 'assistant', content: 'Wait.', toolCalls: [ownCall] },
      { role: 'tool', content: '5', toolCallId: 'call_1' },
      { role: 'assistant', toolCalls: [{ ...ownCall, id: 'call_2' }] },
      { role: 'tool', content: '6', toolCallId: 'call_2' },
    ],
  ]);
});

const THOUGHT = {
  type: 'reasoning',
  id: 'rs_1',
  status: 'completed',
  summary: [{ type: 'summary_text', text: 'In short.' }],
  content: [{ type: 'reasoning_text', text: 'Hm.' }],
  encrypted_content: null,
};

it('gives the template what the model thought before its messages and calls', () => {
  const call = { type: 'function_call', call_id: 'call_1', name: 'add', arguments: '{}' };
  const { prompts } = read({
    input: [
      { ...THOUGHT, content: undefined },
      { role: 'assistant', content: 'Wait.' },
      THOUGHT,
      call,
      { type: 'function_call_output', call_id: 'call_1', output: '5' },
      THOUGHT,
      { ...call, call_id: 'call_2' },
      { type: 'function_call_output', call_id: 'call_2', output: '6' },
      THOUGHT,
      { role: 'user', content: 'Go on' },
    ],
  });
  const ownCall = { id: 'call_1', name: 'add', arguments: '{}' };
  expect(prompts).toEqual([
    [
      { role: 'assistant', content: 'Wait.', reasoning: 'In short.\nHm.', toolCalls: [ownCall] },
      { role: 'tool', content: '5', toolCallId: 'call_1' },
      { role: 'assistant', reasoning: 'Hm.', toolCalls: [{ ...ownCall, id: 'call_2' }] },
      { role: 'tool', content: '6', toolCallId: 'call_2' },
      { role: 'assistant', content: '', reasoning: 'Hm.' },
      { role: 'user', content: 'Go on' },
    ],
  ]);
});

const CALL = { type: 'function_call', call_id: 'a', name: 'add', arguments: '{}' };
const OUTPUT = { type: 'function_call_output', call_id: 'a', output: '5' };

it.each([
  [[{ ...THOUGHT, encrypted_content: 'x' }], 'input[0].encrypted_content', /thinking has a summary/],
  [[{ ...THOUGHT, summary: 'x' }], 'input[0].summary', /to be a list of texts/],
  [[{ ...THOUGHT, content: [{ type: 'text', text: 'x' }] }], 'input[0].content[0]', /only text/],
  [[{ ...THOUGHT, content: [{ type: 'reasoning_text', text: 5 }] }], 'input[0].content[0].text', /a text/],
  [[CALL, { role: 'user', content: 'a' }], 'input[0].call_id', /send an item function_call_output for it/],
  [[CALL, CALL, OUTPUT], 'input[1].call_id', /an ID that no other call has/],
  [[CALL, OUTPUT, OUTPUT], 'input[2].call_id', /a call before that has no other result/],
])('refuses an item that is none, or none of its calls: %j', (input, param, message) => {
  expect(() => read({ input })).toThrow(
    expect.objectContaining({ param, message: expect.stringMatching(message) }),
  );
});

it('an error of the worker names the item and the field that the client has sent', () => {
  const call = { type: 'function_call', call_id: 'call_1', name: 'add', arguments: '{}' };
  const { names } = read({
    instructions: 'Be brief.',
    input: [
      { role: 'user', content: 'a' },
      { type: 'reasoning', id: 'rs_1', summary: [] },
      call,
      { ...call, call_id: 'call_2', arguments: 'none' },
      { type: 'function_call_output', call_id: 'call_1', output: '5' },
      { type: 'function_call_output', call_id: 'call_2', output: '5' },
    ],
  });
  const told = (place: string): unknown =>
    inApiNames(InvalidOptionError.of(place, 'right', 'wrong'), { input: 'input', names });
  expect(told('prompt[2].toolCalls[1].arguments')).toMatchObject({ param: 'input[3].arguments' });
});

it.each<readonly [object, string, RegExp]>([
  [{ previous_response_id: 'resp_1' }, 'previous_response_id', /nothing is stored here, so send the items/],
  [{ conversation: 'conv_1' }, 'conversation', /nothing is stored here/],
  [{ prompt: { id: 'pmpt_1' } }, 'prompt', /send their text in `instructions` and `input`/],
  [{ background: true }, 'background', /or pass false/],
  [{ truncation: 'auto' }, 'truncation', /or pass "disabled"/],
  [{ tools: [{ type: 'web_search' }] }, 'tools[0].type', /to be function/],
  [{ tool_choice: { type: 'allowed_tools' } }, 'tool_choice', /or a function/],
  [
    { tool_choice: { type: 'function', name: 'f', function: { name: 'g' } } },
    'tool_choice.function',
    /isn't supported here/,
  ],
  [{ text: { format: { type: 'json_schema' } } }, 'text.format.schema', /a JSON Schema/],
  [{ text: { verbosity: 'none' } }, 'text.verbosity', /or pass "low" or "medium"/],
  [{ text: { voice: 'alloy' } }, 'text.voice', /the options are text\.format, text\.verbosity/],
  [{ text: 'json' }, 'text', /to be an object/],
  [{ reasoning: { effort: 'utmost' } }, 'reasoning.effort', /or pass "none"/],
  [
    { include: ['file_search_call.results'] },
    'include[0]',
    /to be message\.output_text\.logprobs or reasoning\.encrypted_content, got `file_search_call\.results`/,
  ],
  [{ include: 'x' }, 'include', /to be a list of names, got `x`/],
  [{ top_logprobs: 5 }, 'top_logprobs', /goes with `include: /],
  [{ instructions: 7 }, 'instructions', /to be a text, got `7`/],
  [{ n: 2 }, 'n', /or pass 1/],
  [{ max_tokens: 5 }, 'max_tokens', /Unknown option `max_tokens`: the nearest of \d+ is max_output_tokens/],
  [{ messages: [] }, 'messages', /Unknown option/],
  [{ input: undefined }, 'input', /a text, or a list of messages/],
  [{ input: [] }, 'input', /at least one message/],
  [{ input: [{ type: 'function_call', name: 'f' }] }, 'input[0]', /`call_id`, `name` and `arguments`/],
  [{ input: [{ type: 'function_call_output', output: 'a' }] }, 'input[0].call_id', /the ID of a call/],
  [
    { input: [{ type: 'web_search_call' }] },
    'input[0].type',
    /is `web_search_call`: only messages, reasoning/,
  ],
  [{ input: [{ type: 'item_reference', id: 'msg_1' }] }, 'input[0].type', /nothing is stored here/],
  [
    { input: [{ role: 'user', content: [{ type: 'input_image', image_url: 'a' }] }] },
    'input[0].content[0]',
    /of type `input_image`: only text is supported here/,
  ],
  [
    { input: [{ role: 'user', content: [{ type: 'input_file', file_id: 'a' }] }] },
    'input[0].content[0]',
    /of type `input_file`/,
  ],
  [
    { input: [{ type: 'function_call', call_id: 'a', name: 'f', arguments: '{}', input: {} }] },
    'input[0].input',
    /a call has a call_id/,
  ],
  [
    { input: [{ type: 'function_call_output', call_id: 'a', output: 'a', error: 'b' }] },
    'input[0].error',
    /isn't supported here/,
  ],
  [{ input: [{ role: 'tool', content: 'a' }] }, 'input[0].tool_call_id', /the ID of a call/],
  [{ input: [{ role: 'user', content: 'a', prefix: true }] }, 'input[0].prefix', /isn't supported here/],
])('refuses by name what it does not do: %o', (given, param, message) => {
  expect(() => read(given)).toThrow(HttpError);
  expect(() => read(given)).toThrow(
    expect.objectContaining({ status: 400, param, message: expect.stringMatching(message) }),
  );
});
