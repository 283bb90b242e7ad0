import { createHash } from 'node:crypto';

import type { GenerationChunk, GenerationResponse, Serve } from '../../src/worker/client/client.ts';
import type {
  GenerationChoice,
  GenerationOptions,
  GenerationResult,
  PromptTokenLogprobs,
} from '../../src/worker/protocol/generation.ts';
import type { ServedModel } from '../../src/worker/protocol/models.ts';
import { EventStream } from '../http/event-stream.ts';
import type { Exchange } from '../http/exchange.ts';
import { readJson } from '../http/read-body.ts';
import { workRoute, type Route } from '../http/router.ts';
import { VERSION } from '../version.ts';
import { TokenTexts } from './completion-logprobs.ts';
import { inOpenAiNames, readCompletionRequest, type CompletionRequest } from './completion-request.ts';
import { allOrNone } from './deployments.ts';
import { checkModel, modelReplaced, servedModel } from './served-model.ts';

/** `POST /v1/completions`, as OpenAI's and vLLM's. */
export function completionsRoute(serve: Serve): Route {
  const tokenTexts = new TokenTexts(serve);
  return workRoute('/v1/completions', async (exchange) => {
    const asked = readCompletionRequest(await readJson(exchange.request));
    exchange.checkPriority(asked.options.priority);
    const { id } = await servedModel(serve, exchange.signal);
    checkModel(asked.model, id);
    const completion = new Completion(serve, tokenTexts, exchange, asked);
    try {
      await (asked.isStream ? completion.stream() : completion.answer());
    } catch (error) {
      throw inOpenAiNames(error);
    }
  });
}

/** The answer to one request. */
class Completion {
  readonly #serve: Serve;
  readonly #tokenTexts: TokenTexts;
  readonly #exchange: Exchange;
  readonly #asked: CompletionRequest;
  readonly #created = Math.floor(Date.now() / 1000);
  /** The model that generated the first token. */
  #model: ServedModel | undefined;

  constructor(serve: Serve, tokenTexts: TokenTexts, exchange: Exchange, asked: CompletionRequest) {
    this.#serve = serve;
    this.#tokenTexts = tokenTexts;
    this.#exchange = exchange;
    this.#asked = asked;
  }

  async answer(): Promise<void> {
    const results = await this.#ask((response) => this.#resultOf(response));
    const choices = results.flatMap((result) => result.choices);
    this.#exchange.sendJson(200, {
      ...this.#head,
      choices: await Promise.all(choices.map((choice, index) => this.#describe(choice, index))),
      usage: usageOf(results),
    });
  }

  async stream(): Promise<void> {
    const { numChoicesPerPrompt, usage } = this.#asked;
    const stream = new EventStream(this.#exchange);
    const results = await this.#ask(async (response, index) => {
      // An earlier refusal is answered with its own status.
      await response.accepted();
      stream.open();
      return this.#pass(response, index * numChoicesPerPrompt, stream);
    });
    if (usage.isIncluded) stream.send({ ...this.#head, choices: [], usage: usageOf(results) });
    stream.end();
  }

  /** Submits the prompts as one turn, and collects what `take` makes of each response. */
  #ask(
    take: (response: GenerationResponse, index: number) => Promise<GenerationResult>,
  ): Promise<GenerationResult[]> {
    const { prompts, options, user } = this.#asked;
    const generator = this.#serve.getHandle('text-generator', this.#exchange.callerOf(user));
    return allOrNone(this.#exchange.signal, (signal) =>
      generator.remoteAll(prompts, { ...options, signal }).map(take),
    );
  }

  async #resultOf(response: GenerationResponse): Promise<GenerationResult> {
    const result = await response.result();
    this.#setModel(response.model);
    return result;
  }

  /** Passes a prompt's chunks on as they come. An echoed prompt is sent with the first token. */
  async #pass(
    response: GenerationResponse,
    firstIndex: number,
    stream: EventStream,
  ): Promise<GenerationResult> {
    const { options, usage } = this.#asked;
    const send = (choice: object, used: Usage): void =>
      stream.send({ ...this.#head, choices: [choice], ...usageIn(usage, used) });
    /** What was read of each choice, without an echoed prompt: tokens, and characters of tokens with logprobs. */
    let read: { numTokens: number; numCharacters: number }[] = [];
    let echoed: object[] = [];
    let numPromptTokens = 0;
    for await (const chunk of response) {
      const { index, text, finishReason, promptLogprobs, isRestart } = chunk;
      if (isRestart) {
        this.#beginAnew();
        [read, echoed] = [[], []];
        continue;
      }
      const isPrompt = options.echo && !read[index];
      const choiceRead = (read[index] ??= { numTokens: 0, numCharacters: 0 });
      numPromptTokens = chunk.numPromptTokens ?? promptLogprobs?.length ?? numPromptTokens;
      if (!isPrompt) choiceRead.numTokens += numTokensIn(chunk);
      const scored = scoredTokensOf(chunk, options);
      if (text === '' && !scored && !finishReason) continue;
      const { model } = response;
      const choice = { index: firstIndex + index, text, logprobs: null, finish_reason: finishReason ?? null };
      // The prompt's length is known with the first token, or with its logprobs. Chunks before a restart are void.
      if (model === undefined || (isPrompt && !scored)) {
        echoed.push(choice);
        continue;
      }
      this.#setModel(model);
      const used = toUsage(numPromptTokens, choiceRead.numTokens);
      const logprobs =
        scored && (await this.#tokenTexts.describe(scored, model.id, choiceRead.numCharacters));
      choiceRead.numCharacters += logprobs?.tokens.join('').length ?? 0;
      for (const prompt of echoed.splice(0)) send(prompt, toUsage(numPromptTokens, 0));
      send({ ...choice, logprobs: logprobs ?? null }, used);
    }
    return this.#resultOf(response);
  }

  async #describe(choice: GenerationChoice, index: number): Promise<object> {
    const { options, hasPromptLogprobs } = this.#asked;
    const { text, generatedText, promptLogprobs, finishReason } = choice;
    const scored = scoredTokensOf(choice, options);
    const { model } = this.#head;
    return {
      index,
      text: options.echo ? text : generatedText,
      logprobs: scored ? await this.#tokenTexts.describe(scored, model, 0) : null,
      finish_reason: finishReason,
      ...(hasPromptLogprobs &&
        promptLogprobs && {
          prompt_logprobs: await this.#tokenTexts.describePrompt(promptLogprobs, model),
        }),
    };
  }

  /** The fields that an answer, or every chunk of a stream, begins with. */
  get #head() {
    if (!this.#model) throw new Error('An answer has a head once it has a token.');
    return {
      id: `cmpl-${this.#exchange.requestId}`,
      object: 'text_completion',
      created: this.#created,
      model: this.#model.id,
      system_fingerprint: fingerprintOf(this.#model),
    };
  }

  /** @throws HttpError where the caller asked for another model, or another one generated what came before. */
  #setModel(model: ServedModel | undefined): void {
    if (!model) throw new Error('A request has a token before a model has started it.');
    if (this.#model && this.#model.id !== model.id) throw modelReplaced();
    checkModel(this.#asked.model, model.id);
    this.#model ??= model;
  }

  /** @throws HttpError where something of it was sent, which cannot be taken back. */
  #beginAnew(): void {
    if (this.#exchange.hasContent) throw modelReplaced();
    this.#model = undefined;
  }
}

/** The same for the same model, backend, precision and version of Tabserve. */
function fingerprintOf({ id, backend, precision }: ServedModel): string {
  const parts = JSON.stringify([id, precision, backend, VERSION]);
  return `fp_${createHash('sha256').update(parts).digest('hex').slice(0, 12)}`;
}

/** The tokens of a choice's text with their logprobs, those of an echoed prompt first. Undefined if none were asked for. */
function scoredTokensOf(
  { promptLogprobs, logprobs }: Pick<GenerationChoice, 'promptLogprobs' | 'logprobs'>,
  { echo, logprobs: numLogprobs }: GenerationOptions,
): readonly PromptTokenLogprobs[] | undefined {
  if (numLogprobs === undefined || (!promptLogprobs && !logprobs)) return undefined;
  return [...((echo && promptLogprobs) || []), ...(logprobs ?? [])];
}

type Usage = ReturnType<typeof toUsage>;

/** An end token counts although no chunk has its id. Without ids, an upstream's chunk counts as one token. */
function numTokensIn({ tokenIds, text, finishReason }: GenerationChunk): number {
  return tokenIds.length || Number(text !== '' || finishReason === 'stop');
}

/** The field `usage` of a chunk, if it has one. */
function usageIn({ isIncluded, isContinuous }: CompletionRequest['usage'], usage: Usage): object {
  if (isContinuous) return { usage };
  return isIncluded ? { usage: null } : {};
}

function usageOf(results: readonly GenerationResult[]): Usage {
  const sum = (count: (result: GenerationResult) => number): number =>
    results.reduce((total, result) => total + count(result), 0);
  return toUsage(
    sum(({ usage }) => usage.numPromptTokens),
    sum(({ usage }) => usage.numOutputTokens),
  );
}

function toUsage(promptTokens: number, completionTokens: number) {
  return {
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    total_tokens: promptTokens + completionTokens,
  };
}
