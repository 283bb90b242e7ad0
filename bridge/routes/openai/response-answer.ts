import type { GenerationResult } from '../../../src/protocol/generation.ts';
import { EventStream } from '../../http/event-stream.ts';
import { secondsNow, type Exchange } from '../../http/exchange.ts';
import type { HttpError } from '../../../src/protocol/openai/http-error.ts';
import {
  ANSWER_PARTS,
  answerOf,
  resultIn,
  wholeCallsOf,
  wholePartsOf,
  type AnswerParts,
} from './chat-answer.ts';
import type { AnswerPart } from '../../../src/protocol/answers.ts';
import type { Piece } from './choice-stream.ts';
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
    const items = new ResponseItems(this.#given.context.requestId, () => {});
    const tokens = new AnswerTokens();
    const logprobs: object[] = [];
    // Which tokens were thoughts, only the pieces tell.
    const results = await this.#generation.stream(
      () => {},
      (piece) => tokens.take(piece, (_, ofContent) => logprobs.push(...ofContent)),
      () => {
        tokens.forget();
        logprobs.length = 0;
      },
    );
    const result = resultIn(results);
    logprobs.push(...tokens.rest());
    for (const part of wholePartsOf(result)) {
      const ofPart = part.type === 'content' ? logprobs : [];
      // As in a stream, thinking without an answer has no message behind it.
      if (part.type !== 'content' || part.text !== '' || ofPart.length > 0) items.push(part, ofPart);
    }
    return this.#endOf(result, items, tokens.numReasoning);
  }

  async stream(exchange: Exchange): Promise<void> {
    const stream = new EventStream(exchange);
    this.#stream = stream;
    const items = new ResponseItems(this.#given.context.requestId, (type, fields) =>
      this.#send(type, fields),
    );
    const tokens = new AnswerTokens();
    const results = await this.#generation.stream(
      () => stream.open((error) => this.#fail(error)),
      (piece) => {
        this.#begin();
        tokens.take(piece, (part, logprobs) => items.push(part, logprobs));
      },
    );
    this.#begin();
    const rest = tokens.rest();
    if (rest.length > 0) items.push({ type: 'content', text: '' }, rest);
    const response = this.#endOf(resultIn(results), items, tokens.numReasoning);
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

  #endOf(result: GenerationResult, items: ResponseItems, numReasoning: number) {
    const reason = cutReasonOf(result);
    const status = reason === undefined ? 'completed' : 'incomplete';
    return this.#responseOf(status, {
      completed_at: status === 'completed' ? secondsNow() : null,
      incomplete_details: reason === undefined ? null : { reason },
      output: items.end(status),
      usage: usageOf(result.usage, numReasoning),
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

/**
 * Why an answer is incomplete; undefined for a whole one. A stop string ends a message as it should, and cuts a call or thinking. OpenAI's
 * API has no stop strings, so it has no reason for that: `stop` is the one of chat completions.
 */
function cutReasonOf(result: GenerationResult): 'max_output_tokens' | 'stop' | undefined {
  if (result.finishReason === 'length') return 'max_output_tokens';
  const { reasoning, content, toolCalls } = answerOf(result);
  const isThought = reasoning !== '' && content === '' && toolCalls.length === 0;
  const isCutThought = isThought && result.stopString !== undefined;
  return isCutThought || wholeCallsOf(result).length < toolCalls.length ? 'stop' : undefined;
}

/** What the tokens of an answer were for, as its pieces come. */
class AnswerTokens {
  /** Tokens until the last thought. */
  numReasoning = 0;
  /** Log probabilities of tokens since the last part. */
  #waiting: object[] = [];
  #last: AnswerPart['type'] = 'content';

  /** @param push Called with each part, and the log probabilities of its tokens if it is content. */
  take(
    { choice, used }: Piece<AnswerParts>,
    push: (part: AnswerPart, logprobs: readonly object[]) => void,
  ): void {
    this.#waiting.push(...entriesOf(choice.logprobs));
    for (const part of choice.parts) {
      if (part.type === 'reasoning') this.numReasoning = used.completion_tokens;
      push(part, part.type === 'content' ? this.#waiting : []);
      this.#waiting = [];
      this.#last = part.type;
    }
  }

  /** Of the tokens behind the last part, if that is content. */
  rest(): readonly object[] {
    return this.#last === 'content' ? this.#waiting : [];
  }

  /** Another model starts over. */
  forget(): void {
    this.numReasoning = 0;
    this.#waiting = [];
    this.#last = 'content';
  }
}

function entriesOf(logprobs: object | null): readonly object[] {
  return Array.isArray(logprobs) ? logprobs : [];
}

function usageOf(
  { numPromptTokens, numCachedTokens, numOutputTokens }: GenerationResult['usage'],
  numReasoning: number,
) {
  return {
    input_tokens: numPromptTokens,
    input_tokens_details: { cached_tokens: numCachedTokens, cache_write_tokens: 0 },
    output_tokens: numOutputTokens,
    output_tokens_details: { reasoning_tokens: numReasoning },
    total_tokens: numPromptTokens + numOutputTokens,
  };
}
