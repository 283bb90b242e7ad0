import type { TabserveClient } from '../../../src/client/client.ts';
import { readJson } from '../../http/read-body.ts';
import { workRoute, type Route } from '../../http/router.ts';
import { servedModel } from '../served-model.ts';
import { Answer, type AnswerFormat } from './answer.ts';
import { readChatRequest } from './chat-request.ts';
import { readCompletionRequest } from './completion-request.ts';
import { inApiNames, type GenerationRequest } from './generation-request.ts';
import { chatMessageOf, deltaOf, partsOf } from './chat-answer.ts';
import type { AskedGeneration } from './generation.ts';
import { chatLogprobs, completionLogprobs } from './logprobs.ts';
import { ResponseAnswer } from './response-answer.ts';
import { readResponseRequest } from './response-request.ts';
import { TokenTexts } from './token-texts.ts';

/** `POST /v1/completions`, as OpenAI's and vLLM's. */
export function completionsRoute(serve: TabserveClient): Route {
  const format: AnswerFormat = {
    idPrefix: 'cmpl',
    object: 'text_completion',
    chunkObject: 'text_completion',
    textOf: ({ text, generatedText }, { options }) => ({ text: options.echo ? text : generatedText }),
    piecesOf: ({ text }) => (text === '' ? [] : [{ text }]),
    empty: { text: '' },
    logprobsOf: completionLogprobs,
  };
  return generationRoute(
    serve,
    '/v1/completions',
    'prompt',
    readCompletionRequest,
    (given) => new Answer(given, format),
  );
}

/** `POST /v1/chat/completions`, as OpenAI's and vLLM's. */
export function chatCompletionsRoute(serve: TabserveClient): Route {
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
  return generationRoute(
    serve,
    '/v1/chat/completions',
    'messages',
    readChatRequest,
    (given) => new Answer(given, format),
  );
}

/** `POST /v1/responses`, as OpenAI's. */
export function responsesRoute(serve: TabserveClient): Route {
  return generationRoute(
    serve,
    '/v1/responses',
    'input',
    readResponseRequest,
    (given) => new ResponseAnswer(given),
  );
}

/**
 * An endpoint of OpenAI's API that generates.
 *
 * @param input The field of the body that holds the prompt.
 * @param read Reads a body. @throws HttpError 400
 */
function generationRoute<Request extends GenerationRequest>(
  serve: TabserveClient,
  path: string,
  input: string,
  read: (body: unknown) => Request,
  answerTo: (given: AskedGeneration<Request>) => Pick<Answer, 'send' | 'stream'>,
): Route {
  const tokenTexts = new TokenTexts(serve);
  return workRoute(path, async (exchange) => {
    const asked = read(await readJson(exchange.request));
    exchange.checkPriority(asked.options.priority);
    const { id } = await servedModel(serve, exchange.signal);
    exchange.checkModel(asked.model, id);
    const answer = answerTo({ serve, tokenTexts, exchange, asked });
    try {
      await (asked.isStream ? answer.stream() : answer.send());
    } catch (error) {
      throw inApiNames(error, { input, names: asked.names });
    }
  });
}
