import { createHash } from 'node:crypto';
import type { GenerationChoice } from '../../../src/protocol/generation.ts';
import type { ServedModel } from '../../../src/protocol/models.ts';
import type { Exchange } from '../../http/exchange.ts';
import { EventStream } from '../../http/event-stream.ts';
import { VERSION } from '../../base/version.ts';
import { endOf, type TextFormat, usageIn, usageOf } from './choice-stream.ts';
import type { GenerationRequest } from '../../../src/protocol/openai/generation-request.ts';
import { Generation, type AskedGeneration } from './generation.ts';
import { promptLogprobs } from '../../../src/protocol/openai/logprobs.ts';

/** How an endpoint writes an answer of choices. */
export interface AnswerFormat extends TextFormat<object> {
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
export class Answer {
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
      finish_reason: endOf(choice.finishReason, (choice.answer?.toolCalls.length ?? 0) > 0),
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
