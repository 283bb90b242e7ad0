import type { GenerationResponse, Serve } from '../../src/worker/client.ts';
import type { GenerationChoice, GenerationResult } from '../../src/worker/protocol.ts';
import { EventStream } from '../http/event-stream.ts';
import type { Exchange } from '../http/exchange.ts';
import { HttpError } from '../http/http-error.ts';
import { readJson } from '../http/read-json.ts';
import type { Route } from '../http/router.ts';
import { TokenTexts, type CompletionLogprobs } from './completion-logprobs.ts';
import { inOpenAiNames, readCompletionRequest, type CompletionRequest } from './completion-request.ts';
import { allOrNone } from './deployments.ts';
import { servedModel } from './served-model.ts';
import { modelNotFound } from './service.ts';

interface Choice {
  readonly index: number;
  readonly text: string;
  readonly logprobs: CompletionLogprobs | null;
  readonly finish_reason: string | null;
}

/** What is the same in an answer and in all chunks of a stream. */
interface Head {
  readonly id: string;
  readonly object: 'text_completion';
  readonly created: number;
  readonly model: string;
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
    const { id: model } = await servedModel(this.#serve, exchange.signal);
    if (asked.model !== undefined && asked.model !== model) throw modelNotFound(asked.model, model);
    const head: Head = {
      id: `cmpl-${exchange.requestId}`,
      object: 'text_completion',
      created: Math.floor(Date.now() / 1000),
      model,
    };
    try {
      await (asked.isStream ? this.#stream(exchange, asked, head) : this.#complete(exchange, asked, head));
    } catch (error) {
      throw inOpenAiNames(error);
    }
  }

  async #complete(exchange: Exchange, asked: CompletionRequest, head: Head): Promise<void> {
    const results = await allOrNone(exchange.signal, (signal) =>
      this.#submit(asked, signal).map((response) => response.result()),
    );
    const choices = results.flatMap((result) => result.choices);
    exchange.sendJson(200, {
      ...head,
      choices: await Promise.all(
        choices.map((choice, index) => this.#describe(choice, index, asked, head.model)),
      ),
      usage: usageOf(results),
    });
  }

  async #stream(exchange: Exchange, asked: CompletionRequest, head: Head): Promise<void> {
    const stream = new EventStream(exchange);
    const usage = asked.includesUsage ? { usage: null } : {};
    const results = await allOrNone(exchange.signal, (signal) =>
      this.#submit(asked, signal).map((response, index) => {
        const firstIndex = index * asked.numChoicesPerPrompt;
        return this.#pass(response, firstIndex, head.model, (choice) =>
          stream.send({ ...head, choices: [choice], ...usage }),
        );
      }),
    );
    if (asked.includesUsage) stream.send({ ...head, choices: [], usage: usageOf(results) });
    stream.end();
  }

  #submit({ prompts, options }: CompletionRequest, signal: AbortSignal): readonly GenerationResponse[] {
    const generator = this.#serve.getHandle('text-generator');
    return prompts.map((prompt) => generator.remote(prompt, { ...options, signal }));
  }

  /** Hands a prompt's chunks on as they come. */
  async #pass(
    response: GenerationResponse,
    firstIndex: number,
    model: string,
    send: (choice: Choice) => void,
  ): Promise<GenerationResult> {
    const offsets: number[] = [];
    for await (const { index, text, logprobs, finishReason, isRestart } of response) {
      if (isRestart) throw modelReplaced();
      if (text === '' && !logprobs && !finishReason) continue;
      const described = logprobs && (await this.#tokenTexts.describe(logprobs, model, offsets[index] ?? 0));
      offsets[index] = (offsets[index] ?? 0) + (described?.tokens.join('').length ?? 0);
      send({
        index: firstIndex + index,
        text,
        logprobs: described ?? null,
        finish_reason: finishReason ?? null,
      });
    }
    return response.result();
  }

  async #describe(
    { text, generatedText, logprobs, finishReason }: GenerationChoice,
    index: number,
    { options: { echo = false } }: CompletionRequest,
    model: string,
  ): Promise<Choice> {
    return {
      index,
      text: echo ? text : generatedText,
      logprobs: logprobs ? await this.#tokenTexts.describe(logprobs, model, 0) : null,
      finish_reason: finishReason,
    };
  }
}

function usageOf(results: readonly GenerationResult[]) {
  const sum = (count: (result: GenerationResult) => number): number =>
    results.reduce((total, result) => total + count(result), 0);
  const promptTokens = sum(({ usage }) => usage.numPromptTokens);
  const completionTokens = sum(({ usage }) => usage.numOutputTokens);
  return {
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    total_tokens: promptTokens + completionTokens,
  };
}

/** What was sent cannot be taken back, and the new model says something else. */
function modelReplaced(): HttpError {
  return new HttpError(503, 'Another model took over in the middle of the stream: ask again.', {
    code: 'MODEL_REPLACED',
  });
}
