import type { TabserveClient } from '../../../src/client/client.ts';
import { readJson } from '../../http/read-body.ts';
import { workRoute, type Route } from '../../http/router.ts';
import { servedModel } from '../served-model.ts';
import { Answer } from './answer.ts';
import { readChatRequest } from './chat-request.ts';
import type { AnswerFormat } from './choice-stream.ts';
import { readCompletionRequest } from './completion-request.ts';
import { inApiNames, type GenerationRequest } from './generation-request.ts';
import { chatLogprobs, completionLogprobs } from './logprobs.ts';
import { TokenTexts } from './token-texts.ts';

/** `POST /v1/completions`, as OpenAI's and vLLM's. */
export function completionsRoute(serve: TabserveClient): Route {
  return generationRoute(serve, '/v1/completions', 'prompt', readCompletionRequest, {
    idPrefix: 'cmpl',
    object: 'text_completion',
    chunkObject: 'text_completion',
    textOf: ({ text, generatedText }, { options }) => ({ text: options.echo ? text : generatedText }),
    pieceOf: (text) => ({ text }),
    logprobsOf: completionLogprobs,
  });
}

/** `POST /v1/chat/completions`, as OpenAI's and vLLM's. */
export function chatCompletionsRoute(serve: TabserveClient): Route {
  return generationRoute(serve, '/v1/chat/completions', 'messages', readChatRequest, {
    idPrefix: 'chatcmpl',
    object: 'chat.completion',
    chunkObject: 'chat.completion.chunk',
    opening: { delta: { role: 'assistant', content: '' } },
    textOf: ({ generatedText }) => ({
      message: { role: 'assistant', content: generatedText, refusal: null },
    }),
    pieceOf: (text) => ({ delta: text === '' ? {} : { content: text } }),
    logprobsOf: chatLogprobs,
  });
}

/**
 * An endpoint of OpenAI's API that generates.
 *
 * @param input The field of the body that holds the prompt.
 * @param read Reads a body. @throws HttpError 400
 */
function generationRoute(
  serve: TabserveClient,
  path: string,
  input: string,
  read: (body: unknown) => GenerationRequest,
  format: AnswerFormat,
): Route {
  const tokenTexts = new TokenTexts(serve);
  return workRoute(path, async (exchange) => {
    const asked = read(await readJson(exchange.request));
    exchange.checkPriority(asked.options.priority);
    const { id } = await servedModel(serve, exchange.signal);
    exchange.checkModel(asked.model, id);
    const answer = new Answer({ serve, tokenTexts, exchange, asked, format });
    try {
      await (asked.isStream ? answer.stream() : answer.send());
    } catch (error) {
      throw inApiNames(error, { input, names: asked.names });
    }
  });
}
