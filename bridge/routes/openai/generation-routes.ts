import type { TabserveClient } from '../../../src/client/client.ts';
import type { AnswerBody, RequestContext } from '../../http/exchange.ts';
import { readJson } from '../../http/read-body.ts';
import { workRoute, type Route } from '../../http/router.ts';
import { servedModel } from '../../tabs/served-model.ts';
import { Answer, type AnswerFormat } from './answer.ts';
import { readChatRequest } from '../../../src/protocol/openai/chat-request.ts';
import { readCompletionRequest } from '../../../src/protocol/openai/completion-request.ts';
import { inApiNames, type GenerationRequest } from '../../../src/protocol/openai/generation-request.ts';
import { chatMessageOf, deltaOf, partsOf } from './chat-answer.ts';
import type { AskedGeneration } from './generation.ts';
import { chatLogprobs, completionLogprobs } from './logprobs.ts';
import { ResponseAnswer } from './response-answer.ts';
import { readResponseRequest } from './response-request.ts';
import { TokenTexts } from './token-texts.ts';

/** A route that also answers what comes without HTTP. */
export interface GenerationRoute extends Route {
  readonly answer: AnswerBody;
}

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
  return generationRoute(
    serve,
    '/v1/completions',
    'prompt',
    readCompletionRequest,
    (given) => new Answer(given, format),
  );
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
  return generationRoute(
    serve,
    '/v1/chat/completions',
    'messages',
    readChatRequest,
    (given) => new Answer(given, format),
  );
}

/** `POST /v1/responses`, as OpenAI's. */
export function responsesRoute(serve: TabserveClient): GenerationRoute {
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
  answerTo: (given: AskedGeneration<Request>) => Pick<Answer, 'whole' | 'stream'>,
): GenerationRoute {
  const tokenTexts = new TokenTexts(serve);
  const answer = async <Result>(
    asked: Request,
    context: RequestContext,
    take: (answer: Pick<Answer, 'whole' | 'stream'>) => Promise<Result>,
  ): Promise<Result> => {
    context.checkPriority(asked.options.priority);
    const { id } = await servedModel(serve, context.signal);
    context.checkModel(asked.model, id);
    try {
      return await take(answerTo({ serve, tokenTexts, context, asked }));
    } catch (error) {
      throw inApiNames(error, { input, names: asked.names });
    }
  };
  const route = workRoute(path, async (exchange) => {
    const asked = read(await readJson(exchange.request));
    if (asked.isStream) await answer(asked, exchange, (streamed) => streamed.stream(exchange));
    else exchange.sendJson(200, await answer(asked, exchange, (given) => given.whole()));
  });
  return { ...route, answer: async (body, context) => answer(read(body), context, (given) => given.whole()) };
}
