import type { TabserveClient } from '../../../src/client/client.ts';
import { Answer, type AnswerFormat } from './answer.ts';
import { readChatRequest } from '../../../src/protocol/openai/chat-request.ts';
import { readCompletionRequest } from '../../../src/protocol/openai/completion-request.ts';
import { chatMessageOf, deltaOf, partsOf } from './chat-answer.ts';
import { chatLogprobs, completionLogprobs } from '../../../src/protocol/openai/logprobs.ts';
import { ResponseAnswer } from './response-answer.ts';
import { readResponseRequest } from './response-request.ts';
import { inApiNames, type GenerationRequest } from '../../../src/protocol/openai/generation-request.ts';
import type { AnswerBody, Exchange, RequestContext } from '../../http/exchange.ts';
import { readJson } from '../../http/read-body.ts';
import { workRoute, type Route } from '../../http/router.ts';
import { servedModel } from '../../tabs/served-model.ts';
import type { AskedGeneration } from './generation.ts';
import { TokenTexts } from './token-texts.ts';

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

/** A route that also answers what comes without HTTP. */
interface GenerationRoute extends Route {
  readonly answer: AnswerBody;
}

/** An endpoint that generates. */
interface Endpoint<Request extends GenerationRequest> {
  readonly path: string;
  /** The field of the body that holds the prompt. */
  readonly input: string;
  /** @throws HttpError 400 */
  readonly read: (body: unknown) => Request;
  readonly answerTo: (given: AskedGeneration<Request>) => Pick<Answer, 'whole' | 'stream'>;
  /** How a body is read; by default it has to be sent as JSON. */
  readonly readBody?: typeof readJson;
  /** The body of an error, where it isn't OpenAI's. */
  readonly describeError?: Exchange['describeError'];
}

export function generationRoute<Request extends GenerationRequest>(
  serve: TabserveClient,
  { path, input, read, answerTo, readBody = readJson, describeError }: Endpoint<Request>,
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
      throw inApiNames(error, { input, isList: asked.prompts.length > 1, names: asked.names });
    }
  };
  const route = workRoute(path, async (exchange) => {
    if (describeError) exchange.describeError = describeError;
    const asked = read(await readBody(exchange.request));
    if (asked.isStream) await answer(asked, exchange, (streamed) => streamed.stream(exchange));
    else exchange.sendJson(200, await answer(asked, exchange, (given) => given.whole()));
  });
  return { ...route, answer: async (body, context) => answer(read(body), context, (given) => given.whole()) };
}
