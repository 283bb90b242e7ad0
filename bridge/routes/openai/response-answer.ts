import type { GenerationResult } from '../../../src/protocol/generation.ts';
import { EventStream } from '../../http/event-stream.ts';
import { secondsNow, type Exchange } from '../../http/exchange.ts';
import type { HttpError } from '../../../src/protocol/openai/http-error.ts';
import { ANSWER_PARTS, resultIn, wholePartsOf, type AnswerParts } from './chat-answer.ts';
import { Generation, type AskedGeneration } from './generation.ts';
import { ResponseItems, type Status } from './response-items.ts';
import type { ResponseRequest } from './response-request.ts';

/** The answer to one request of the Responses API, whole or as a stream. */
export class ResponseAnswer {
  readonly #given: AskedGeneration<ResponseRequest>;
  readonly #generation: Generation<AnswerParts>;
  #stream: EventStream | undefined;
  #numEvents = 0;

  constructor(given: AskedGeneration<ResponseRequest>) {
    this.#given = given;
    this.#generation = new Generation(given, ANSWER_PARTS);
  }

  async whole(): Promise<object> {
    const result = resultIn(await this.#generation.results());
    const items = new ResponseItems(this.#given.context.requestId, () => {});
    const logprobs = entriesOf(await this.#generation.logprobsOf(result));
    for (const part of wholePartsOf(result)) items.push(part, part.type === 'content' ? logprobs : []);
    return this.#endOf(result, items);
  }

  async stream(exchange: Exchange): Promise<void> {
    const stream = new EventStream(exchange);
    this.#stream = stream;
    const items = new ResponseItems(this.#given.context.requestId, (type, fields) =>
      this.#send(type, fields),
    );
    let logprobs: object[] = [];
    const results = await this.#generation.stream(
      () => stream.open((error) => this.#fail(error)),
      ({ choice }) => {
        this.#begin();
        logprobs.push(...entriesOf(choice.logprobs));
        for (const part of choice.parts) {
          items.push(part, logprobs);
          logprobs = [];
        }
      },
    );
    this.#begin();
    // Tokens behind the last text.
    if (logprobs.length > 0) items.push({ type: 'content', text: '' }, logprobs);
    const response = this.#endOf(resultIn(results), items);
    this.#send(`response.${response.status}`, { response });
    stream.close();
  }

  /** Sends what comes before the text, once. */
  #begin(): void {
    if (this.#numEvents > 0) return;
    const response = this.#responseOf('in_progress');
    this.#send('response.created', { response });
    this.#send('response.in_progress', { response });
  }

  /** OpenAI's clients throw for the first event; others look for the second one. */
  #fail(error: HttpError): void {
    const { status, code, message, param } = error;
    const hasBegun = this.#numEvents > 0;
    this.#send('error', { code, message, param, ...error.toJSON() });
    if (!hasBegun) return;
    const apiCode = status === 429 ? 'rate_limit_exceeded' : 'server_error';
    this.#send('response.failed', {
      response: this.#responseOf('failed', { error: { code: apiCode, message } }),
    });
  }

  #send(type: string, fields: object): void {
    this.#stream?.send({ type, sequence_number: this.#numEvents, ...fields }, type);
    this.#numEvents += 1;
  }

  #endOf({ finishReason, usage }: GenerationResult, items: ResponseItems) {
    const status = finishReason === 'length' ? 'incomplete' : 'completed';
    return this.#responseOf(status, {
      completed_at: status === 'completed' ? secondsNow() : null,
      incomplete_details: status === 'incomplete' ? { reason: 'max_output_tokens' } : null,
      output: items.end(status),
      usage: usageOf(usage),
    });
  }

  #responseOf(status: Status, rest: object = {}) {
    const { context, asked } = this.#given;
    return {
      id: `resp_${context.requestId}`,
      object: 'response',
      created_at: context.createdAt,
      completed_at: null,
      status,
      background: false,
      error: null,
      incomplete_details: null,
      ...asked.echoed,
      model: this.#generation.model.id,
      output: [],
      previous_response_id: null,
      service_tier: 'default',
      store: false,
      truncation: 'disabled',
      usage: null,
      ...rest,
    };
  }
}

function entriesOf(logprobs: object | null): readonly object[] {
  return Array.isArray(logprobs) ? logprobs : [];
}

function usageOf({ numPromptTokens, numCachedTokens, numOutputTokens }: GenerationResult['usage']) {
  return {
    input_tokens: numPromptTokens,
    input_tokens_details: { cached_tokens: numCachedTokens, cache_write_tokens: 0 },
    output_tokens: numOutputTokens,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: numPromptTokens + numOutputTokens,
  };
}
