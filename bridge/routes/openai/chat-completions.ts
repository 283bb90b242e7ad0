import type { TabserveClient } from '../../../src/client/client.ts';
import type { Route } from '../../http/router.ts';
import type { AnswerFormat } from './answer-format.ts';
import { readChatRequest } from './chat-request.ts';
import { generationRoute } from './generation-route.ts';
import { chatLogprobs } from './logprobs.ts';

const FORMAT: AnswerFormat = {
  idPrefix: 'chatcmpl',
  object: 'chat.completion',
  chunkObject: 'chat.completion.chunk',
  opening: { delta: { role: 'assistant', content: '' } },
  textOf: ({ generatedText }) => ({
    message: { role: 'assistant', content: generatedText, refusal: null },
  }),
  pieceOf: (text) => ({ delta: text === '' ? {} : { content: text } }),
  logprobsOf: chatLogprobs,
};

/** `POST /v1/chat/completions`, as OpenAI's and vLLM's. */
export function chatCompletionsRoute(serve: TabserveClient): Route {
  return generationRoute(serve, {
    path: '/v1/chat/completions',
    input: 'messages',
    format: FORMAT,
    read: readChatRequest,
  });
}
