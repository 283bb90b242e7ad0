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
import { TokenTexts, type CompletionLogprobs, type PromptLogprobs } from './completion-logprobs.ts';
import { inOpenAiNames, readCompletionRequest, type CompletionRequest } from './completion-request.ts';
import { allOrNone } from './deployments.ts';
import { checkModel, modelReplaced, servedModel } from './served-model.ts';

interface Choice {
  readonly index: number;
  readonly text: string;
  readonly logprobs: CompletionLogprobs | null;
  readonly finish_reason: string | null;
  /** vLLM's field, if it was asked for. */
  readonly prompt_logprobs?: PromptLogprobs;
}

/** `POST /v1/completions`, as OpenAI's and vLLM's. */
export function completionsRoute(serve: Serve): Route {
  const completions = new Completions(serve);
  return workRoute('/v1/completions', (exchange) => completions.answer(exchange));
}

class Completions {
  readonly #serve: Serve;
  readonly #tokenTexts: TokenTexts;

  constructor(serve: Serve) {
    this.#serve = serve;
    this.#tokenTexts = new TokenTexts(serve);
  }

  async answer(exchange: Exchange): Promise<void> {
    const asked = readCompletionRequest(await readJson(exchange.request));
    exchange.checkPriority(asked.options.priority);
    const { id: model } = await servedModel(this.#serve, exchange.signal);
    checkModel(asked.model, model);
    const answer = new CompletionAnswer(exchange, asked);
    try {
      await (asked.isStream
        ? this.#stream(exchange, asked, answer)
        : this.#complete(exchange, asked, answer));
    } catch (error) {
      throw inOpenAiNames(error);
    }
  }

  async #complete(exchange: Exchange, asked: CompletionRequest, answer: CompletionAnswer): Promise<void> {
    const results = await this.#ask(exchange, asked, async (response) => {
      const result = await response.result();
      answer.setModel(response.model);
      return result;
    });
    const choices = results.flatMap((result) => result.choices);
    exchange.sendJson(200, {
      ...answer.head,
      choices: await Promise.all(
        choices.map((choice, index) => this.#describe(choice, index, asked, answer.head.model)),
      ),
      usage: usageOf(results),
    });
  }

  async #stream(exchange: Exchange, asked: CompletionRequest, answer: CompletionAnswer): Promise<void> {
    const stream = new EventStream(exchange);
    const results = await this.#ask(exchange, asked, async (response, index) => {
      // An earlier refusal is answered with its own status.
      await response.accepted();
      stream.open();
      return this.#pass(response, index * asked.numChoicesPerPrompt, asked, answer, (choice, usage) =>
        stream.send({ ...answer.head, choices: [choice], ...usageIn(asked, usage) }),
      );
    });
    if (asked.usage.isIncluded) stream.send({ ...answer.head, choices: [], usage: usageOf(results) });
    stream.end();
  }

  /** Submits the prompts as one turn, and collects what `take` makes of each response. */
  #ask<Result>(
    exchange: Exchange,
    { prompts, options, user }: CompletionRequest,
    take: (response: GenerationResponse, index: number) => Promise<Result>,
  ): Promise<Result[]> {
    const generator = this.#serve.getHandle('text-generator', exchange.callerOf(user));
    return allOrNone(exchange.signal, (signal) =>
      generator.remoteAll(prompts, { ...options, signal }).map(take),
    );
  }

  /** Passes a prompt's chunks on as they come. An echoed prompt is sent with the first token. */
  async #pass(
    response: GenerationResponse,
    firstIndex: number,
    asked: CompletionRequest,
    answer: CompletionAnswer,
    send: (choice: Choice, usage: Usage) => void,
  ): Promise<GenerationResult> {
    /** What was read of each choice, without an echoed prompt: tokens, and characters of tokens with logprobs. */
    let read: { numTokens: number; numCharacters: number }[] = [];
    let echoed: Choice[] = [];
    let numPromptTokens = 0;
    for await (const chunk of response) {
      const { index, text, finishReason, promptLogprobs, isRestart } = chunk;
      if (isRestart) {
        answer.beginAnew();
        [read, echoed] = [[], []];
        continue;
      }
      const isPrompt = asked.options.echo && !read[index];
      const choiceRead = (read[index] ??= { numTokens: 0, numCharacters: 0 });
      numPromptTokens = chunk.numPromptTokens ?? promptLogprobs?.length ?? numPromptTokens;
      if (!isPrompt) choiceRead.numTokens += numTokensIn(chunk);
      const scored = scoredTokensOf(chunk, asked.options);
      if (text === '' && !scored && !finishReason) continue;
      const { model } = response;
      const choice = { index: firstIndex + index, text, logprobs: null, finish_reason: finishReason ?? null };
      // The prompt's length is known with the first token, or with its logprobs. Chunks before a restart are void.
      if (model === undefined || (isPrompt && !scored)) {
        echoed.push(choice);
        continue;
      }
      answer.setModel(model);
      const usage = toUsage(numPromptTokens, choiceRead.numTokens);
      const logprobs = scored
        ? await this.#tokenTexts.describe(scored, model.id, choiceRead.numCharacters)
        : null;
      choiceRead.numCharacters += logprobs?.tokens.join('').length ?? 0;
      for (const prompt of echoed.splice(0)) send(prompt, toUsage(numPromptTokens, 0));
      send({ ...choice, logprobs }, usage);
    }
    const result = await response.result();
    answer.setModel(response.model);
    return result;
  }

  async #describe(
    choice: GenerationChoice,
    index: number,
    { options, hasPromptLogprobs }: CompletionRequest,
    model: string,
  ): Promise<Choice> {
    const { text, generatedText, promptLogprobs, finishReason } = choice;
    const scored = scoredTokensOf(choice, options);
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
}

interface Head {
  readonly id: string;
  readonly object: 'text_completion';
  readonly created: number;
  readonly model: string;
  readonly system_fingerprint: string;
}

/** The fields that an answer, or every chunk of a stream, begins with: they name the model that generated the first token. */
class CompletionAnswer {
  readonly #exchange: Exchange;
  readonly #asked: CompletionRequest;
  readonly #createdAtMs = Date.now();
  #head: Head | undefined;

  constructor(exchange: Exchange, asked: CompletionRequest) {
    this.#exchange = exchange;
    this.#asked = asked;
  }

  get head(): Head {
    if (!this.#head) throw new Error('An answer has a head once it has a token.');
    return this.#head;
  }

  /** @throws HttpError where the caller asked for another model, or another one generated what came before. */
  setModel(model: ServedModel | undefined): void {
    if (!model) throw new Error('A request has a token before a model has started it.');
    if (this.#head && this.#head.model !== model.id) throw modelReplaced();
    checkModel(this.#asked.model, model.id);
    this.#head ??= {
      id: `cmpl-${this.#exchange.requestId}`,
      object: 'text_completion',
      created: Math.floor(this.#createdAtMs / 1000),
      model: model.id,
      system_fingerprint: fingerprintOf(model),
    };
  }

  /** @throws HttpError where something of it was sent, which cannot be taken back. */
  beginAnew(): void {
    if (this.#exchange.hasContent) throw modelReplaced();
    this.#head = undefined;
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

interface Usage {
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  readonly total_tokens: number;
}

/** An end token counts although no chunk has its id. Without ids, an upstream's chunk counts as one token. */
function numTokensIn({ tokenIds, text, finishReason }: GenerationChunk): number {
  return tokenIds.length || Number(text !== '' || finishReason === 'stop');
}

/** The field `usage` of a chunk, if it has one. */
function usageIn({ usage: { isIncluded, isContinuous } }: CompletionRequest, usage: Usage): object {
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

function toUsage(promptTokens: number, completionTokens: number): Usage {
  return {
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    total_tokens: promptTokens + completionTokens,
  };
}
