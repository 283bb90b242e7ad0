import type { TabserveClient } from '../../../src/client/client.ts';
import { readJson } from '../../http/read-body.ts';
import { workRoute, type Route } from '../../http/router.ts';
import { checkModel, servedModel } from '../served-model.ts';
import { Answer } from './answer.ts';
import type { AnswerFormat } from './answer-format.ts';
import { inApiNames, type GenerationRequest } from './generation-request.ts';
import { TokenTexts } from './token-texts.ts';

/** An endpoint of OpenAI's API that generates. */
interface GenerationEndpoint {
  readonly path: string;
  /** The field of the body that holds the prompt. */
  readonly input: string;
  readonly format: AnswerFormat;
  /** @throws HttpError 400 */
  readonly read: (body: unknown) => GenerationRequest;
}

export function generationRoute(
  serve: TabserveClient,
  { path, input, format, read }: GenerationEndpoint,
): Route {
  const tokenTexts = new TokenTexts(serve);
  return workRoute(path, async (exchange) => {
    const asked = read(await readJson(exchange.request));
    exchange.checkPriority(asked.options.priority);
    const { id } = await servedModel(serve, exchange.signal);
    checkModel(asked.model, id);
    const answer = new Answer({ serve, tokenTexts, exchange, asked, format });
    try {
      await (asked.isStream ? answer.stream() : answer.send());
    } catch (error) {
      throw inApiNames(error, { input, names: asked.names });
    }
  });
}
