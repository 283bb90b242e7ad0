import { describe, expect, it } from 'vitest';

import { HttpError } from './http-error.ts';
import { readChatRequest } from './chat-request.ts';

const messages = [{ role: 'user', content: 'Hello' }];

const read = (given: object) => readChatRequest({ messages, ...given });

it('asks for the answer to one chat, which may fill the context', () => {
  expect(read({})).toMatchObject({
    model: undefined,
    isStream: false,
    user: undefined,
    prompts: [messages],
    options: {},
    numChoicesPerPrompt: 1,
  });
  expect(read({}).options).toEqual({});
});

it("reads OpenAI's and vLLM's options", () => {
  const given = {
    model: 'A',
    stream: true,
    stream_options: { include_usage: true, continuous_usage_stats: true },
    user: 'ann',
    n: 3,
    max_completion_tokens: 9,
    temperature: 0.5,
    top_p: 0.9,
    presence_penalty: 1,
    frequency_penalty: -1,
    logit_bias: { 5: -100 },
    seed: 7,
    stop: ['\n'],
    top_k: -1,
    min_p: 0.1,
    repetition_penalty: 1.1,
    ignore_eos: true,
    min_tokens: 2,
    stop_token_ids: [5],
    include_stop_str_in_output: true,
    priority: 0,
    chat_template_kwargs: { enable_thinking: false },
  };
  expect(read(given)).toMatchObject({
    model: 'A',
    isStream: true,
    usage: { isIncluded: true, isContinuous: true },
    user: 'ann',
    numChoicesPerPrompt: 3,
  });
  expect(read(given).options).toEqual({
    n: 3,
    maxNewTokens: 9,
    temperature: 0.5,
    topP: 0.9,
    presencePenalty: 1,
    frequencyPenalty: -1,
    logitBias: { 5: -100 },
    seed: 7,
    stop: ['\n'],
    topK: 0,
    minP: 0.1,
    repetitionPenalty: 1.1,
    ignoreEos: true,
    minTokens: 2,
    stopTokenIds: [5],
    includeStopStrInOutput: true,
    priority: 0,
    chatTemplateArguments: { enable_thinking: false },
  });
});

it.each([
  [{ max_tokens: 5 }, 5],
  [{ max_completion_tokens: 5 }, 5],
  [{ max_tokens: 5, max_completion_tokens: 5 }, 5],
  [{ max_tokens: 9, max_completion_tokens: 5 }, 5],
  [{ max_tokens: null, max_completion_tokens: 5 }, 5],
  [{ max_tokens: 0 }, 0],
])('takes the limit by either name: %j', (given, expected) => {
  expect(read(given).options).toEqual({ maxNewTokens: expected });
});

it.each([
  [{ logprobs: true }, { logprobs: 0 }],
  [{ logprobs: true, top_logprobs: 0 }, { logprobs: 0 }],
  [{ logprobs: true, top_logprobs: 20 }, { logprobs: 20 }],
  [{ logprobs: false }, {}],
  [{ logprobs: false, top_logprobs: 0 }, {}],
  [{ logprobs: null, top_logprobs: null }, {}],
])('asks for log probabilities as chats do: %j', (given, expected) => {
  expect(read(given).options).toEqual(expected);
});

it('tells a template of a model that reasons not to, unless the request says otherwise', () => {
  const asked = { reasoning_effort: 'none' };
  expect(read(asked).options).toEqual({ chatTemplateArguments: { enable_thinking: false } });
  expect(read({ thinking: { type: 'disabled' } }).options).toEqual(read(asked).options);
  expect(read({ reasoning: { effort: 'none' } }).options).toEqual(read(asked).options);
  expect(read({ reasoning: { enabled: false } }).options).toEqual(read(asked).options);
  const variables = { enable_thinking: true };
  expect(read({ ...asked, chat_template_kwargs: variables }).options).toEqual({
    chatTemplateArguments: variables,
  });
});

it.each(['minimal', 'low', 'medium', 'high'])(
  'tells a template the effort of its reasoning: %s',
  (effort) => {
    const expected = { chatTemplateArguments: { enable_thinking: true, reasoning_effort: effort } };
    expect(read({ reasoning_effort: effort }).options).toEqual(expected);
    expect(read({ reasoning: { effort } }).options).toEqual(expected);
    expect(read({ reasoning: { effort, enabled: true }, thinking: { type: 'enabled' } }).options).toEqual(
      expected,
    );
  },
);

it.each([{ thinking: { type: 'enabled' } }, { reasoning: { enabled: true } }])(
  'tells a template that thinks only where it is told to: %j',
  (asked) => {
    expect(read(asked).options).toEqual({ chatTemplateArguments: { enable_thinking: true } });
    const chat_template_kwargs = { enable_thinking: false };
    expect(read({ ...asked, chat_template_kwargs }).options).toEqual({
      chatTemplateArguments: chat_template_kwargs,
    });
  },
);

it.each([
  [{ reasoning_effort: 'high', thinking: { type: 'disabled' } }, 'reasoning_effort', 'thinking.type'],
  [{ reasoning_effort: 'none', thinking: { type: 'enabled' } }, 'reasoning_effort', 'thinking.type'],
  [{ reasoning: { enabled: false, effort: 'high' } }, 'reasoning.effort', 'reasoning.enabled'],
  [{ reasoning: { enabled: true }, thinking: { type: 'disabled' } }, 'thinking.type', 'reasoning.enabled'],
  [{ reasoning_effort: 'low', reasoning: { effort: 'high' } }, 'reasoning_effort', 'reasoning.effort'],
])('refuses two words on thinking that contradict each other: %j', (asked, first, other) => {
  expect(() => read(asked)).toThrow(`\`${first}\` and \`${other}\` contradict each other: pass one of them.`);
});

it('continues the last message, with or without a word on the beginning of the next', () => {
  const expected = { continueFinalMessage: true };
  expect(read({ continue_final_message: true }).options).toEqual(expected);
  expect(read({ continue_final_message: true, add_generation_prompt: false }).options).toEqual(expected);
});

const SCHEMA = { type: 'object', properties: { a: { type: 'integer' } } };

it.each([
  [{ response_format: { type: 'json_object' } }, { type: 'json_object' }],
  [{ response_format: { type: 'json_object', schema: SCHEMA } }, { type: 'json_schema', schema: SCHEMA }],
  [
    { response_format: { type: 'json_schema', json_schema: { name: 'n', strict: true, schema: SCHEMA } } },
    { type: 'json_schema', schema: SCHEMA },
  ],
  [{ structured_outputs: { json: SCHEMA } }, { type: 'json_schema', schema: SCHEMA }],
  [{ structured_outputs: { json: JSON.stringify(SCHEMA) } }, { type: 'json_schema', schema: SCHEMA }],
  [{ structured_outputs: { json_object: true, regex: null } }, { type: 'json_object' }],
  [{ structured_outputs: { choice: ['a', 'b'] } }, { type: 'choice', choices: ['a', 'b'] }],
  [{ structured_outputs: { regex: 'a+' } }, { type: 'regex', pattern: 'a+' }],
  [{ structured_outputs: { grammar: 'root ::= "a"' } }, { type: 'grammar', grammar: 'root ::= "a"' }],
  [
    { structured_outputs: { structural_tag: '{"type":"structural_tag","format":{"type":"any_text"}}' } },
    { type: 'structural_tag', format: { type: 'any_text' } },
  ],
  [
    { response_format: { type: 'text' }, structured_outputs: { choice: ['a'] } },
    { type: 'choice', choices: ['a'] },
  ],
])("reads OpenAI's and vLLM's shapes of an answer: %o", (given, responseFormat) => {
  expect(read(given).options).toEqual({ responseFormat });
});

it('reads tools, and which of them may be called', () => {
  const tools = [
    { type: 'function', function: { name: 'add', description: 'Adds.', parameters: SCHEMA, strict: true } },
    { type: 'function', function: { name: 'now' } },
  ];
  const own = tools.map((tool) => tool.function);
  expect(read({ tools }).options).toEqual({ tools: own });
  expect(read({ tools, tool_choice: 'required', parallel_tool_calls: false }).options).toEqual({
    tools: own,
    toolChoice: 'required',
    parallelToolCalls: false,
  });
  const named = { type: 'function', function: { name: 'now' } };
  expect(read({ tools, tool_choice: named }).options).toEqual({ tools: own, toolChoice: { name: 'now' } });
});

describe('a value that asks for nothing', () => {
  it.each([
    { response_format: { type: 'text' } },
    { modalities: ['text'] },
    { tools: [] },
    { tool_choice: 'none' },
    { tool_choice: 'auto', function_call: 'auto' },
    { verbosity: 'medium', reasoning_effort: null },
    { verbosity: 'low' },
    { verbosity: 'high', thinking: {}, reasoning: { exclude: false } },
    { functions: [], function_call: 'none' },
    { parallel_tool_calls: true },
    { service_tier: 'auto' },
    { service_tier: 'flex' },
    { service_tier: 'priority' },
    { echo: false },
    { add_generation_prompt: true },
    { add_special_tokens: false },
    { skip_special_tokens: true },
    { store: true, metadata: { run: '7' }, user: 'ann' },
    { prompt_cache_key: 'a', safety_identifier: 'b' },
    { tools: null, response_format: null, stop: null, audio: null },
  ])('is taken, and changes no option: %o', (given) => {
    expect(read(given).options).toEqual({});
  });
});

it.each<readonly [object, string, RegExp]>([
  [
    { response_format: { type: 'xml' } },
    'response_format.type',
    /text, json_object, json_schema or structural_tag/,
  ],
  [
    { response_format: { type: 'json_object', schema: 5 } },
    'response_format.schema',
    /to be a JSON Schema, got `5`/,
  ],
  [{ response_format: { type: 'json_object', prefix: '{' } }, 'response_format.prefix', /Unknown option/],
  ...['messages', 'add_generation_prompt', 'tools'].map(
    (name) =>
      [
        { chat_template_kwargs: { [name]: [] } },
        `chat_template_kwargs.${name}`,
        /can't be set: the template gets it/,
      ] as const,
  ),
  [{ response_format: { type: 'text', schema: {} } }, 'response_format.schema', /Unknown option/],
  [
    { response_format: { type: 'json_object', json_schema: { schema: {} } } },
    'response_format.type',
    /to be json_schema, got `json_object`/,
  ],
  [
    { response_format: { type: 'json_schema', json_schema: { schema: {}, shema: {} } } },
    'response_format.json_schema.shema',
    /Unknown option/,
  ],
  [
    { response_format: { type: 'json_schema', json_schema: {} } },
    'response_format.json_schema.schema',
    /a JSON Schema/,
  ],
  [
    { response_format: { type: 'json_object' }, structured_outputs: { choice: ['a'] } },
    'structured_outputs',
    /two shapes of one answer/,
  ],
  [{ structured_outputs: { choice: ['a'], regex: 'b' } }, 'structured_outputs', /pass one of them/],
  [{ structured_outputs: {} }, 'structured_outputs', /with one of json, json_object, choice, regex/],
  [
    { structured_outputs: { whitespace_pattern: 'a' } },
    'structured_outputs.whitespace_pattern',
    /Unknown option/,
  ],
  [{ structured_outputs: { json: '{' } }, 'structured_outputs.json', /to be JSON/],
  [{ structured_outputs: { choice: [1] } }, 'structured_outputs.choice', /a list of strings/],
  [{ structured_outputs: { structural_tag: 7 } }, 'structured_outputs.structural_tag', /a structural tag/],
  [{ guided_json: {} }, 'guided_json', /pass `structured_outputs: \{"json": …\}`/],
  [{ tools: 'a' }, 'tools', /a list of tools/],
  [{ tools: [{ type: 'web_search' }] }, 'tools[0].type', /to be function, got `web_search`/],
  [{ tools: [{ type: 'function' }] }, 'tools[0].function', /an object with a `name`/],
  [
    { tools: [{ type: 'function', function: { parameters: {} } }] },
    'tools[0].function.name',
    /got `nothing`/,
  ],
  [
    { tools: [{ type: 'function', function: { name: 'a', paramters: {} } }] },
    'tools[0].function.paramters',
    /isn't supported here/,
  ],
  [{ tools: [{ type: 'function', function: { name: 'a' }, strict: true }] }, 'tools[0].strict', /isn't supp/],
  [
    { tools: [{ type: 'function', function: { name: 'a', strict: 1 } }] },
    'tools[0].function.strict',
    /true or/,
  ],
  [{ tool_choice: 'any' }, 'tool_choice', /auto, none, required, or a function/],
  [{ tool_choice: { type: 'function', name: 'f' } }, 'tool_choice', /or a function with its `name`/],
  [
    { tool_choice: { type: 'function', function: { name: 'f' }, mode: 'any' } },
    'tool_choice.mode',
    /a choice has the name of a function/,
  ],
  [
    { tool_choice: { type: 'function', function: { name: 'f', arguments: {} } } },
    'tool_choice.function.arguments',
    /isn't supported here/,
  ],
  [{ parallel_tool_calls: 1 }, 'parallel_tool_calls', /true or false/],
  [{ reasoning_effort: 'utmost' }, 'reasoning_effort', /leave it out, or pass "none" or "minimal" or/],
  [{ reasoning: { effort: 'utmost' } }, 'reasoning.effort', /leave it out, or pass "none"/],
  [{ thinking: { budget_tokens: 5 } }, 'thinking.budget_tokens', /the options are thinking\.type/],
  [{ verbosity: 'none' }, 'verbosity', /leave it out, or pass "low" or "medium" or "high"/],
  [{ service_tier: 'gold' }, 'service_tier', /or pass "auto"/],
  [{ functions: [{ name: 'f' }] }, 'functions', /or pass \[\]/],
  [{ modalities: ['text', 'audio'] }, 'modalities', /or pass \["text"\]/],
  [{ echo: true }, 'echo', /or pass false/],
  [{ add_generation_prompt: false }, 'add_generation_prompt', /goes with `continue_final_message: true`/],
  [{ add_generation_prompt: 1 }, 'add_generation_prompt', /to be true or false/],
  [
    { add_generation_prompt: true, continue_final_message: true },
    'add_generation_prompt',
    /pass false with it/,
  ],
  [{ add_special_tokens: true }, 'add_special_tokens', /or pass false/],
  [{ audio: { voice: 'alloy' } }, 'audio', /Unknown option `audio`/],
  [{ prompt: 'Once' }, 'prompt', /Unknown option `prompt`: the nearest of \d+ is /],
  [{ prompt_logprobs: 1 }, 'prompt_logprobs', /Unknown option/],
  [{ best_of: 1 }, 'best_of', /Unknown option/],
  [{ maxNewTokens: 1 }, 'maxNewTokens', /Unknown option/],
  [{ logprobs: 5 }, 'logprobs', /`logprobs` to be true or false, got `5`/],
  [{ top_logprobs: 5 }, 'top_logprobs', /goes with `logprobs: true` alone/],
  [{ logprobs: false, top_logprobs: 1 }, 'top_logprobs', /goes with `logprobs: true` alone/],
  [{ stream_options: { include_usage: true } }, 'stream_options', /`stream: true` alone/],
  [{ n: '2' }, 'n', /`n` to be a number, got `2`/],
  [{ user: 7 }, 'user', /`user` to be a text, got `7`/],
  [{ prompt_cache_key: 7 }, 'prompt_cache_key', /to be a text/],
  [{ messages: [] }, 'messages', /at least one message/],
])('refuses by name what it does not do: %o', (given, param, message) => {
  expect(() => read(given)).toThrow(HttpError);
  expect(() => read(given)).toThrow(
    expect.objectContaining({ status: 400, param, message: expect.stringMatching(message) }),
  );
});
