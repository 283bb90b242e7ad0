import type { GenerationResult } from '../../../src/protocol/generation.ts';
import { EventStream } from '../../http/event-stream.ts';
import type { HttpError } from '../../http/http-error.ts';
import type { TextFormat } from './choice-stream.ts';
import { Generation, type AskedGeneration } from './generation.ts';
import { chatLogprobs } from './logprobs.ts';
import type { ResponseRequest } from './response-request.ts';

type Status = 'in_progress' | 'completed' | 'incomplete' | 'failed';

const FORMAT: TextFormat<{ readonly text: string }> = {
  pieceOf: (text) => ({ text }),
  logprobsOf: (tokens) => chatLogprobs(tokens).content,
};

/** Where the text is in an answer: it is the only part of the only item. */
const ITEM = { output_index: 0 };
const PART = { ...ITEM, content_index: 0 };

/** The answer to one request of the Responses API, whole or as a stream. It has one message. */
export class ResponseAnswer {
  readonly #given: AskedGeneration<ResponseRequest>;
  readonly #generation: Generation<{ readonly text: string }>;
  readonly #stream: EventStream;
  readonly #createdAt = secondsNow();
  readonly #messageId: string;
  #numEvents = 0;

  constructor(given: AskedGeneration<ResponseRequest>) {
    this.#given = given;
    this.#generation = new Generation(given, FORMAT);
    this.#stream = new EventStream(given.exchange);
    this.#messageId = `msg_${given.exchange.requestId}`;
  }

  async send(): Promise<void> {
    const { response } = await this.#end(await this.#generation.results());
    this.#given.exchange.sendJson(200, response);
  }

  async stream(): Promise<void> {
    const results = await this.#generation.stream(
      () => this.#stream.open((error) => this.#fail(error)),
      ({ choice: { text, logprobs } }) => {
        this.#begin();
        if (text === '' && !logprobs) return;
        this.#send('response.output_text.delta', {
          item_id: this.#messageId,
          ...PART,
          delta: text,
          logprobs: logprobs ?? [],
        });
      },
    );
    this.#begin();
    const { part, message, response } = await this.#end(results);
    const { text, logprobs } = part;
    this.#send('response.output_text.done', { item_id: this.#messageId, ...PART, text, logprobs });
    this.#send('response.content_part.done', { item_id: this.#messageId, ...PART, part });
    this.#send('response.output_item.done', { ...ITEM, item: message });
    this.#send(`response.${response.status}`, { response });
    this.#stream.close();
  }

  /** Sends what comes before the text, once. */
  #begin(): void {
    if (this.#numEvents > 0) return;
    const response = this.#responseOf('in_progress');
    this.#send('response.created', { response });
    this.#send('response.in_progress', { response });
    this.#send('response.output_item.added', { ...ITEM, item: this.#messageOf('in_progress', []) });
    this.#send('response.content_part.added', { item_id: this.#messageId, ...PART, part: partOf('', []) });
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
    this.#stream.send({ type, sequence_number: this.#numEvents, ...fields }, type);
    this.#numEvents += 1;
  }

  async #end([result]: readonly GenerationResult[]) {
    if (!result) throw new Error('One prompt has one result.');
    const { generatedText, finishReason, usage } = result;
    const status = finishReason === 'length' ? 'incomplete' : 'completed';
    const part = partOf(generatedText, (await this.#generation.logprobsOf(result)) ?? []);
    const message = this.#messageOf(status, [part]);
    const response = this.#responseOf(status, {
      completed_at: status === 'completed' ? secondsNow() : null,
      incomplete_details: status === 'incomplete' ? { reason: 'max_output_tokens' } : null,
      output: [message],
      usage: usageOf(usage),
    });
    return { part, message, response };
  }

  #messageOf(status: Status, content: readonly object[]) {
    return { id: this.#messageId, type: 'message', role: 'assistant', status, content };
  }

  #responseOf(status: Status, rest: object = {}) {
    const { exchange, asked } = this.#given;
    return {
      id: `resp_${exchange.requestId}`,
      object: 'response',
      created_at: this.#createdAt,
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
      tools: [],
      truncation: 'disabled',
      usage: null,
      ...rest,
    };
  }
}

function partOf(text: string, logprobs: object) {
  return { type: 'output_text', text, annotations: [], logprobs };
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

function secondsNow(): number {
  return Math.floor(Date.now() / 1000);
}
