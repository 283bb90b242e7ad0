import { createHash } from 'node:crypto';

import type { GenerationResponse, TabserveClient } from '../../../src/client/index.ts';
import type { GenerationChoice, GenerationResult } from '../../../src/protocol/generation.ts';
import type { ServedModel } from '../../../src/protocol/models.ts';
import { EventStream } from '../../http/event-stream.ts';
import type { Exchange } from '../../http/exchange.ts';
import { VERSION } from '../../version.ts';
import { allOrNone } from '../deployments.ts';
import { modelReplaced } from '../served-model.ts';
import { ChoiceStream, scoredTokensOf, type AnswerFormat } from './choice-stream.ts';
import type { GenerationRequest } from './generation-request.ts';
import { promptLogprobs } from './logprobs.ts';
import type { TokenTexts } from './token-texts.ts';
import { usageIn, usageOf } from './usage.ts';

interface AnswerOptions {
  readonly serve: TabserveClient;
  readonly tokenTexts: TokenTexts;
  readonly exchange: Exchange;
  readonly asked: GenerationRequest;
  readonly format: AnswerFormat;
}

/** The answer to one request of OpenAI's API, whole or as a stream. */
export class Answer {
  readonly #given: AnswerOptions;
  readonly #created = Math.floor(Date.now() / 1000);
  /** The model that generated the first token. */
  #model: ServedModel | undefined;

  constructor(given: AnswerOptions) {
    this.#given = given;
  }

  async send(): Promise<void> {
    const { exchange, format } = this.#given;
    const results = await this.#ask((response) => this.#resultOf(response));
    const choices = results.flatMap((result) => result.choices);
    exchange.sendJson(200, {
      ...this.#headOf(format.object),
      choices: await Promise.all(choices.map((choice, index) => this.#describe(choice, index))),
      usage: usageOf(results),
    });
  }

  async stream(): Promise<void> {
    const { exchange, asked, format } = this.#given;
    const stream = new EventStream(exchange);
    const results = await this.#ask(async (response, index) => {
      // An earlier refusal is answered with its own status.
      await response.accepted();
      stream.open();
      return this.#pass(response, index * asked.numChoicesPerPrompt, stream);
    });
    if (asked.usage.isIncluded)
      stream.send({ ...this.#headOf(format.chunkObject), choices: [], usage: usageOf(results) });
    stream.end();
  }

  /** Submits the prompts together, and collects the result of `take` for each response. */
  #ask(
    take: (response: GenerationResponse, index: number) => Promise<GenerationResult>,
  ): Promise<GenerationResult[]> {
    const { serve, exchange, asked } = this.#given;
    const generator = serve.getHandle('text-generator', exchange.callerOf(asked.user));
    return allOrNone(exchange.signal, (signal) =>
      generator.remoteAll(asked.prompts, { ...asked.options, signal }).map(take),
    );
  }

  async #resultOf(response: GenerationResponse): Promise<GenerationResult> {
    const result = await response.result();
    this.#setModel(response.model);
    return result;
  }

  /** Passes a prompt's chunks on as they come. */
  async #pass(
    response: GenerationResponse,
    firstIndex: number,
    stream: EventStream,
  ): Promise<GenerationResult> {
    const { asked, format, tokenTexts } = this.#given;
    const choices = new ChoiceStream({ format, tokenTexts, options: asked.options, firstIndex });
    for await (const chunk of response) {
      if (chunk.isRestart) {
        this.#startOver();
        choices.restart();
        continue;
      }
      const { model } = response;
      for (const { choice, used } of await choices.read(chunk, model?.id)) {
        this.#setModel(model);
        const head = this.#headOf(format.chunkObject);
        stream.send({ ...head, choices: [choice], ...usageIn(asked.usage, used) });
      }
    }
    return this.#resultOf(response);
  }

  async #describe(choice: GenerationChoice, index: number): Promise<object> {
    const { asked, format, tokenTexts } = this.#given;
    const { id: modelId } = this.#servedBy;
    const scored = scoredTokensOf(choice, asked.options);
    const prompt = asked.hasPromptLogprobs && choice.promptLogprobs;
    return {
      index,
      ...format.textOf(choice, asked),
      logprobs: scored ? format.logprobsOf(await tokenTexts.name(scored, modelId), 0) : null,
      finish_reason: choice.finishReason,
      ...(prompt && { prompt_logprobs: promptLogprobs(await tokenTexts.name(prompt, modelId)) }),
    };
  }

  /** The fields that an answer, or every chunk of a stream, begins with. */
  #headOf(object: string) {
    const { exchange, format } = this.#given;
    return {
      id: `${format.idPrefix}-${exchange.requestId}`,
      object,
      created: this.#created,
      model: this.#servedBy.id,
      system_fingerprint: fingerprintOf(this.#servedBy),
    };
  }

  get #servedBy(): ServedModel {
    if (!this.#model) throw new Error('An answer has a model once it has a token.');
    return this.#model;
  }

  /** @throws HttpError if the caller named another model, or another model generated the text so far. */
  #setModel(model: ServedModel | undefined): void {
    if (!model) throw new Error('A request has a token before a model has started it.');
    if (this.#model && this.#model.id !== model.id) throw modelReplaced();
    this.#given.exchange.checkModel(this.#given.asked.model, model.id);
    this.#model ??= model;
  }

  /** @throws HttpError if a part of the answer was sent, because it cannot be taken back. */
  #startOver(): void {
    if (this.#given.exchange.hasContent) throw modelReplaced();
    this.#model = undefined;
  }
}

/** The same for the same model, backend, precision and version of Tabserve. */
function fingerprintOf({ id, backend, precision }: ServedModel): string {
  const parts = JSON.stringify([id, precision, backend, VERSION]);
  return `fp_${createHash('sha256').update(parts).digest('hex').slice(0, 12)}`;
}
