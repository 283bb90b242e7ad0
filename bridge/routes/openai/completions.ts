import type { TabserveClient } from '../../../src/client/client.ts';
import type { Route } from '../../http/router.ts';
import type { AnswerFormat } from './answer-format.ts';
import { readCompletionRequest } from './completion-request.ts';
import { generationRoute } from './generation-route.ts';
import { completionLogprobs } from './logprobs.ts';

const FORMAT: AnswerFormat = {
  idPrefix: 'cmpl',
  object: 'text_completion',
  chunkObject: 'text_completion',
  textOf: ({ text, generatedText }, { options }) => ({ text: options.echo ? text : generatedText }),
  pieceOf: (text) => ({ text }),
  logprobsOf: completionLogprobs,
};

/** `POST /v1/completions`, as OpenAI's and vLLM's. */
export function completionsRoute(serve: TabserveClient): Route {
  return generationRoute(serve, {
    path: '/v1/completions',
    input: 'prompt',
    format: FORMAT,
    read: readCompletionRequest,
  });
}
