import type { TabserveClient } from '../../../src/client/client.ts';
import { inApiNames, type GenerationRequest } from '../../../src/protocol/openai/generation-request.ts';
import type { AnswerBody, Exchange, RequestContext } from '../../http/exchange.ts';
import { readJson } from '../../http/read-body.ts';
import { workRoute, type Route } from '../../http/router.ts';
import { servedModel } from '../../tabs/served-model.ts';
import type { Answer } from './answer.ts';
import type { AskedGeneration } from './generation.ts';
import { TokenTexts } from './token-texts.ts';

/** A route that also answers what comes without HTTP. */
export interface GenerationRoute extends Route {
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
