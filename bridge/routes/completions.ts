import type { GenerationChunk, GenerationResponse, Serve } from '../../src/worker/client/client.ts';
import type {
  GenerationChoice,
  GenerationOptions,
  GenerationResult,
} from '../../src/worker/protocol/generation.ts';
import { EventStream } from '../http/event-stream.ts';
import type { Exchange } from '../http/exchange.ts';
import { readJson } from '../http/read-json.ts';
import type { Route } from '../http/router.ts';
import { CompletionAnswer } from './completion-answer.ts';
import {
  TokenTexts,
  type CompletionLogprobs,
  type PromptLogprobs,
  type ScoredToken,
} from './completion-logprobs.ts';
import { inOpenAiNames, readCompletionRequest, type CompletionRequest } from './completion-request.ts';
import { allOrNone } from './deployments.ts';
import { servedModel } from './served-model.ts';
import { modelNotFound } from './service.ts';

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
  return {
    path: '/v1/completions',
    isWork: true,
    methods: { POST: (exchange) => completions.answer(exchange) },
  };
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
    if (asked.model !== undefined && asked.model !== model) throw modelNotFound(asked.model, model);
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
    let offsets: number[] = [];
    let echoed: Choice[] = [];
    const counts = new TokenCounts(asked.options.echo ?? false);
    for await (const chunk of response) {
      const { index, text, finishReason, isRestart } = chunk;
      const isPrompt = counts.isPrompt(chunk);
      const usage = counts.add(chunk);
      if (isRestart) {
        answer.beginAnew();
        [offsets, echoed] = [[], []];
        continue;
      }
      const scored = scoredTokensOf(chunk, asked.options);
      if (text === '' && !scored && !finishReason) continue;
      const { model } = response;
      const choice = {
        index: firstIndex + index,
        text,
        logprobs: null,
        finish_reason: finishReason ?? null,
      };
      // The prompt's length is known with the first token, or with its logprobs. Chunks before a restart are void.
      if (model === undefined || (isPrompt && !scored)) {
        echoed.push(choice);
        continue;
      }
      answer.setModel(model);
      const described = scored && (await this.#tokenTexts.describe(scored, model.id, offsets[index] ?? 0));
      offsets[index] = (offsets[index] ?? 0) + (described?.tokens.join('').length ?? 0);
      for (const prompt of echoed.splice(0)) send(prompt, counts.ofPrompt);
      send({ ...choice, logprobs: described ?? null }, usage);
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

/** The tokens of a choice's text with their logprobs, those of an echoed prompt first. Undefined if none were asked for. */
function scoredTokensOf(
  { promptLogprobs, logprobs }: Pick<GenerationChoice, 'promptLogprobs' | 'logprobs'>,
  { echo, logprobs: numLogprobs }: GenerationOptions,
): readonly ScoredToken[] | undefined {
  if (numLogprobs === undefined || (!promptLogprobs && !logprobs)) return undefined;
  return [...((echo && promptLogprobs) || []), ...(logprobs ?? [])];
}

interface Usage {
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  readonly total_tokens: number;
}

/** Counts the tokens of a prompt and its choices as they arrive. */
class TokenCounts {
  /** Whether the first chunk of each choice is the prompt. */
  readonly #echo: boolean;
  #numPromptTokens = 0;
  #numOutputTokens: number[] = [];

  constructor(echo: boolean) {
    this.#echo = echo;
  }

  isPrompt({ index }: GenerationChunk): boolean {
    return this.#echo && this.#numOutputTokens[index] === undefined;
  }

  get ofPrompt(): Usage {
    return toUsage(this.#numPromptTokens, 0);
  }

  /** @returns The usage of the chunk's choice so far. */
  add(chunk: GenerationChunk): Usage {
    const { index, numPromptTokens, promptLogprobs, isRestart } = chunk;
    if (isRestart) {
      this.#numOutputTokens = [];
      return this.ofPrompt;
    }
    this.#numPromptTokens = numPromptTokens ?? promptLogprobs?.length ?? this.#numPromptTokens;
    const numTokens = this.isPrompt(chunk) ? 0 : numTokensIn(chunk);
    const numOutputTokens = (this.#numOutputTokens[index] ?? 0) + numTokens;
    this.#numOutputTokens[index] = numOutputTokens;
    return toUsage(this.#numPromptTokens, numOutputTokens);
  }
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
