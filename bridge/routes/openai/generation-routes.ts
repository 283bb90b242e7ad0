import type { TabserveClient } from '../../../src/client/client.ts';
import { Answer, type AnswerFormat } from './answer.ts';
import { readChatRequest } from '../../../src/protocol/openai/chat-request.ts';
import { readCompletionRequest } from '../../../src/protocol/openai/completion-request.ts';
import { chatMessageOf, deltaOf, partsOf } from './chat-answer.ts';
import { generationRoute, type GenerationRoute } from './generation-route.ts';
import { chatLogprobs, completionLogprobs } from '../../../src/protocol/openai/logprobs.ts';
import { ResponseAnswer } from './response-answer.ts';
import { readResponseRequest } from './response-request.ts';

/** `POST /v1/completions`, as OpenAI's and vLLM's. */
export function completionsRoute(serve: TabserveClient): GenerationRoute {
  const format: AnswerFormat = {
    idPrefix: 'cmpl',
    object: 'text_completion',
    chunkObject: 'text_completion',
    textOf: ({ text, generatedText }, { options }) => ({ text: options.echo ? text : generatedText }),
    piecesOf: ({ text }) => (text === '' ? [] : [{ text }]),
    empty: { text: '' },
    logprobsOf: completionLogprobs,
  };
  return generationRoute(serve, {
    path: '/v1/completions',
    input: 'prompt',
    read: readCompletionRequest,
    answerTo: (given) => new Answer(given, format),
  });
}

/** `POST /v1/chat/completions`, as OpenAI's and vLLM's. */
export function chatCompletionsRoute(serve: TabserveClient): GenerationRoute {
  const format: AnswerFormat = {
    idPrefix: 'chatcmpl',
    object: 'chat.completion',
    chunkObject: 'chat.completion.chunk',
    opening: { delta: { role: 'assistant', content: '' } },
    textOf: (choice) => ({ message: chatMessageOf(choice) }),
    piecesOf: (chunk) => partsOf(chunk).map((part) => ({ delta: deltaOf(part) })),
    empty: { delta: {} },
    logprobsOf: chatLogprobs,
  };
  return generationRoute(serve, {
    path: '/v1/chat/completions',
    input: 'messages',
    read: readChatRequest,
    answerTo: (given) => new Answer(given, format),
  });
}

/** `POST /v1/responses`, as OpenAI's. */
export function responsesRoute(serve: TabserveClient): GenerationRoute {
  return generationRoute(serve, {
    path: '/v1/responses',
    input: 'input',
    read: readResponseRequest,
    answerTo: (given) => new ResponseAnswer(given),
  });
}
