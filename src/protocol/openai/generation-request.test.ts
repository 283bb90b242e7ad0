import { expect, it } from 'vitest';

import {
  InvalidOptionError,
  ResponseFormatUnsupportedError,
  UnknownOptionError,
} from '../../batching/base/errors.ts';
import { readChatRequest } from './chat-request.ts';
import { readCompletionRequest } from './completion-request.ts';
import { ofInput } from '../wire-errors.ts';
import { inApiNames } from './generation-request.ts';
import { emptyPrompt, promptTooLong } from '../errors/deployment-messages.ts';
import { chatTemplateRefused } from '../errors/model-messages.ts';

const { names } = readCompletionRequest({ prompt: 'Once' });
const inWords = (error: unknown): unknown => inApiNames(error, { input: 'prompt', names });

const messages = [{ role: 'user', content: 'Hello' }];

/** The error as the answer to a chat with these fields words it. */
const inChatWords = (error: unknown, fields: object = {}): unknown =>
  inApiNames(error, { input: 'messages', names: readChatRequest({ messages, ...fields }).names });

it.each([
  ['maxNewTokens', 'max_tokens', 'Expected `max_tokens` to be a number, got'],
  ['logitBias[262]', 'logit_bias', 'Expected `logit_bias[262]` to be a number, got'],
  ['n', 'n', 'Expected `n` to be a number, got'],
])('tells the option %s by the name that the client knows', (ours, theirs, message) => {
  expect(inWords(InvalidOptionError.of(ours, 'a number', 500))).toMatchObject({
    status: 400,
    param: theirs,
    message: expect.stringContaining(message),
  });
});

it.each([
  ['prompt[1].toolCallId', 'messages[1].tool_call_id'],
  ['prompt[1].toolCalls[0].name', 'messages[1].tool_calls[0].name'],
  ['prompt[1].toolCalls[2].arguments', 'messages[1].tool_calls[2].function.arguments'],
])('tells the part %s of a message in OpenAI’s spelling', (ours, theirs) => {
  expect(inChatWords(InvalidOptionError.of(ours, 'a text', 7))).toMatchObject({
    param: theirs,
    message: expect.stringContaining(`\`${theirs}\``),
  });
});

it('leaves any other error as it is', () => {
  for (const error of [
    new UnknownOptionError('Unknown option `n`'),
    new Error('Expected `n` to be'),
    undefined,
  ])
    expect(inWords(error)).toBe(error);
});

it.each([
  [emptyPrompt(), 'prompt[2]', 'EMPTY_PROMPT', /^`prompt\[2\]`: The prompt is empty/],
  [promptTooLong(9, 8, 7), 'prompt[2]', 'context_length_exceeded', /^`prompt\[2\]`: The prompt has 9/],
  [
    InvalidOptionError.of('prompt[3]', 'a token', 'x'),
    'prompt[2][3]',
    'INVALID_OPTION',
    /^Expected `prompt\[2\]\[3\]`/,
  ],
  [InvalidOptionError.of('seed', 'a number', 'x'), 'seed', 'INVALID_OPTION', /^Expected `seed`/],
])('names the prompt of a list that %s is about', (error, param, code, message) => {
  const given = param === 'seed' ? error : ofInput(error, 2);
  const words = { status: 400, param, code, message: expect.stringMatching(message) };
  expect(inApiNames(given, { input: 'prompt', isList: true, names })).toMatchObject(words);
  expect(inWords(given)).toMatchObject({ param: param.replace('[2]', '') });
});

it('tells a prompt that is too long as OpenAI does', () => {
  expect(inWords(promptTooLong(600, 512, 511))).toMatchObject({
    status: 400,
    param: 'prompt',
    code: 'context_length_exceeded',
    message: expect.stringContaining('shorten the prompt to 511 tokens'),
  });
});

it.each([
  ['maxNewTokens', {}, 'max_completion_tokens'],
  ['maxNewTokens', { max_completion_tokens: 9 }, 'max_completion_tokens'],
  ['maxNewTokens', { max_tokens: 9 }, 'max_tokens'],
  ['logprobs', {}, 'top_logprobs'],
  ['chatTemplateArguments', {}, 'chat_template_kwargs'],
  ['minTokens', {}, 'min_tokens'],
])('tells the option %s of a chat with %j by the name that the client knows', (ours, fields, theirs) => {
  expect(inChatWords(InvalidOptionError.of(ours, 'a number', 500), fields)).toMatchObject({
    status: 400,
    param: theirs,
    message: expect.stringContaining(`Expected \`${theirs}\` to be a number`),
  });
});

const schema = { type: 'object' };
const named = { json_schema: { name: 'a', schema } };

it.each([
  ['tools[2].name', {}, 'tools', 'tools[2].function.name'],
  ['tools[2].parameters.properties.a', {}, 'tools', 'tools[2].function.parameters.properties.a'],
  ['responseFormat.schema.items', {}, 'response_format', 'response_format.json_schema.schema.items'],
  [
    'responseFormat.schema',
    { structured_outputs: { json: schema } },
    'structured_outputs',
    'structured_outputs.json',
  ],
  [
    'responseFormat.pattern',
    { structured_outputs: { regex: 'a' } },
    'structured_outputs',
    'structured_outputs.regex',
  ],
  [
    'responseFormat.grammar',
    { structured_outputs: { grammar: 'a' } },
    'structured_outputs',
    'structured_outputs.grammar',
  ],
])('tells %s of a chat with %j by its place in the body', (ours, fields, param, place) => {
  const given =
    Object.keys(fields).length > 0 ? fields : { response_format: { type: 'json_schema', ...named } };
  expect(inChatWords(ResponseFormatUnsupportedError.of(ours, 'is odd', 'leave it out'), given)).toMatchObject(
    {
      status: 400,
      param,
      code: 'RESPONSE_FORMAT_UNSUPPORTED',
      message: `\`${place}\` is odd: leave it out.`,
    },
  );
});

it('tells what is wrong with the messages of a chat', () => {
  expect(inChatWords(promptTooLong(600, 512, 511))).toMatchObject({
    status: 400,
    param: 'messages',
    code: 'context_length_exceeded',
  });
  expect(inChatWords(chatTemplateRefused('roles must alternate'))).toMatchObject({
    status: 400,
    param: 'messages',
    code: 'CHAT_TEMPLATE_FAILED',
    message: expect.stringContaining('roles must alternate'),
  });
});
