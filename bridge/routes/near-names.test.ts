import { expect, it } from 'vitest';

import { readChatRequest } from '../../src/protocol/openai/chat-request.ts';
import { readCompletionRequest } from '../../src/protocol/openai/completion-request.ts';
import { readMessagesRequest } from './anthropic/messages-request.ts';
import { readOllamaChat, readOllamaGenerate } from './ollama/ollama-request.ts';
import { readResponseRequest } from './openai/response-request.ts';

const READERS = {
  '/v1/completions': readCompletionRequest,
  '/v1/chat/completions': readChatRequest,
  '/v1/responses': readResponseRequest,
  '/v1/messages': readMessagesRequest,
  '/api/chat': readOllamaChat,
  '/api/generate': readOllamaGenerate,
} as const;

it.each<[keyof typeof READERS, Readonly<Record<string, string>>]>([
  [
    '/v1/completions',
    {
      max_completion_tokens: 'max_tokens',
      max_output_tokens: 'max_tokens',
      num_predict: 'max_tokens',
      messages: 'prompt',
      stop_sequences: 'stop',
      repeat_penalty: 'repetition_penalty',
    },
  ],
  [
    '/v1/chat/completions',
    {
      max_output_tokens: 'max_completion_tokens',
      prompt: 'messages',
      input: 'messages',
      stop_sequences: 'stop',
      think: 'reasoning_effort',
    },
  ],
  [
    '/v1/responses',
    {
      max_tokens: 'max_output_tokens',
      max_token: 'max_output_tokens',
      max_completion_tokens: 'max_output_tokens',
      messages: 'input',
      system: 'instructions',
      response_format: 'text.format',
      reasoning_effort: 'reasoning.effort',
    },
  ],
  [
    '/v1/messages',
    {
      max_completion_tokens: 'max_tokens',
      stop: 'stop_sequences',
      prompt: 'messages',
      instructions: 'system',
      response_format: 'output_config.format',
      reasoning_effort: 'output_config.effort',
      user: 'metadata.user_id',
    },
  ],
  [
    '/api/chat',
    {
      max_tokens: 'options.num_predict',
      temperature: 'options.temperature',
      repetition_penalty: 'options.repeat_penalty',
      response_format: 'format',
      reasoning_effort: 'think',
      prompt: 'messages',
    },
  ],
  ['/api/generate', { max_tokens: 'options.num_predict', messages: 'prompt' }],
])('%s hints its own name for what other APIs call otherwise', (path, names) => {
  const hints = Object.keys(names).map((name) => {
    try {
      READERS[path]({ [name]: 1 });
    } catch (error) {
      return [name, / is ([\w.]+)\.$/.exec(String(error))?.[1]];
    }
    return [name];
  });
  expect(Object.fromEntries(hints)).toEqual(names);
});
