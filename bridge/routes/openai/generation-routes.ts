import { writeOrderedJson } from '../../../src/batching/base/ordered-json.ts';
import type { TabserveClient } from '../../../src/client/client.ts';
import { readChatRequest } from '../../../src/protocol/openai/chat-request.ts';
import { readCompletionRequest } from '../../../src/protocol/openai/completion-request.ts';
import { chatMessageOf, deltaOf, endsWithCalls, partsOf } from './chat-answer.ts';
import { chatLogprobs, completionLogprobs, promptLogprobs } from '../../../src/protocol/openai/logprobs.ts';
import { ResponseAnswer } from './response-answer.ts';
import { readResponseRequest } from './response-request.ts';
import { inApiNames, type GenerationRequest } from '../../../src/protocol/openai/generation-request.ts';
import type { AnswerBody, Exchange, RequestContext, WriteJson } from '../../http/exchange.ts';
import { readJson } from '../../http/read-body.ts';
import { workRoute, type Route } from '../../http/router.ts';
import { servedModel } from '../../tabs/tab-link.ts';
import { type AskedGeneration, Generation } from './generation.ts';
import { TokenTexts } from './token-texts.ts';
import { createHash } from 'node:crypto';
import type { GenerationChoice } from '../../../src/protocol/generation.ts';
import type { ServedModel } from '../../../src/protocol/models.ts';
import { EventStream } from '../../http/event-stream.ts';
import { VERSION } from '../../base/version.ts';
import { endOf, type TextFormat, usageIn, usageOf } from './choice-stream.ts';

/** `POST /v1/completions`, as OpenAI's and vLLM's. */
export function completionsRoute(serve: TabserveClient): GenerationRoute {
  const format: AnswerFormat = {
    idPrefix: 'cmpl',
    object: 'text_completion',
    chunkObject: 'text_completion',
    textOf: ({ text, generatedText }, { options }) => ({ text: options.echo ? text : generatedText }),
    piecesOf: ({ text }) => (text === '' ? [] : [{ text }]),
    empty: { text: '' },
    logprobsOf: async (tokens, placesOf) => completionLogprobs(tokens, await placesOf()),
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
    write: writeOrderedJson,
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
  /** Writes a whole answer; by default as `JSON.stringify` does. */
  readonly write?: WriteJson;
}

export function generationRoute<Request extends GenerationRequest>(
  serve: TabserveClient,
  { path, input, read, answerTo, readBody = readJson, write }: Endpoint<Request>,
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
    const asked = read(await readBody(exchange.request));
    if (asked.isStream) await answer(asked, exchange, (streamed) => streamed.stream(exchange));
    else exchange.sendJson(200, await answer(asked, exchange, (given) => given.whole()), write);
  });
  return { ...route, answer: async (body, context) => answer(read(body), context, (given) => given.whole()) };
}

/** How an endpoint writes an answer of choices. */
interface AnswerFormat extends TextFormat<object> {
  /** Begins the id of each answer. */
  readonly idPrefix: string;
  /** The field `object` of an answer. */
  readonly object: string;
  /** The field `object` of a stream's chunks. */
  readonly chunkObject: string;
  /** The fields with a choice's text. */
  textOf(choice: GenerationChoice, asked: GenerationRequest): object;
}

/** The answer to one request for completions, whole or as a stream. */
class Answer {
  readonly #given: AskedGeneration;
  readonly #format: AnswerFormat;
  readonly #generation: Generation<object>;

  constructor(given: AskedGeneration, format: AnswerFormat) {
    this.#given = given;
    this.#format = format;
    this.#generation = new Generation(given, format);
  }

  async whole(): Promise<object> {
    const results = await this.#generation.results();
    const choices = results.flatMap((result) => result.choices);
    return {
      ...this.#headOf(this.#format.object),
      choices: await Promise.all(choices.map((choice, index) => this.#describe(choice, index))),
      usage: usageOf(results),
    };
  }

  async stream(exchange: Exchange): Promise<void> {
    const { asked } = this.#given;
    const { chunkObject } = this.#format;
    const stream = new EventStream(exchange);
    const results = await this.#generation.stream(
      () => stream.open(),
      ({ choice, used }) =>
        stream.send({ ...this.#headOf(chunkObject), choices: [choice], ...usageIn(asked.usage, used) }),
    );
    if (asked.usage.isIncluded)
      stream.send({ ...this.#headOf(chunkObject), choices: [], usage: usageOf(results) });
    stream.end();
  }

  async #describe(choice: GenerationChoice, index: number): Promise<object> {
    const { asked, tokenTexts } = this.#given;
    const prompt = asked.hasPromptLogprobs && choice.promptLogprobs;
    const { id: modelId } = this.#generation.model;
    return {
      index,
      ...this.#format.textOf(choice, asked),
      logprobs: await this.#generation.logprobsOf(choice),
      finish_reason: endOf(choice.finishReason, endsWithCalls(choice)),
      ...(prompt && { prompt_logprobs: promptLogprobs(await tokenTexts.name(prompt, modelId)) }),
    };
  }

  /** The fields that an answer, or every chunk of a stream, begins with. */
  #headOf(object: string) {
    const { model } = this.#generation;
    const { requestId, createdAt } = this.#given.context;
    const { serviceTier } = this.#given.asked;
    return {
      id: `${this.#format.idPrefix}-${requestId}`,
      object,
      created: createdAt,
      model: model.id,
      system_fingerprint: fingerprintOf(model),
      ...(serviceTier !== undefined && { service_tier: serviceTier }),
    };
  }
}

/** The same for the same model, backend, precision and version of Tabserve. */
function fingerprintOf({ id, backend, precision }: ServedModel): string {
  const parts = JSON.stringify([id, precision, backend, VERSION]);
  return `fp_${createHash('sha256').update(parts).digest('hex').slice(0, 12)}`;
}
