import type { GenerationResult } from '../../../src/protocol/generation.ts';
import { EventStream } from '../../http/event-stream.ts';
import type { Exchange } from '../../http/exchange.ts';
import {
  ANSWER_PARTS,
  endsWithCalls,
  isCut,
  resultIn,
  wholePartsOf,
  type AnswerParts,
} from '../openai/chat-answer.ts';
import { Generation, type AskedGeneration } from '../openai/generation.ts';
import { MessageBlocks } from './message-blocks.ts';
import type { MessagesRequest } from './messages-request.ts';

/** The answer to one request for a message, whole or as a stream. */
export class MessageAnswer {
  readonly #given: AskedGeneration<MessagesRequest>;
  readonly #generation: Generation<AnswerParts>;

  constructor(given: AskedGeneration<MessagesRequest>) {
    this.#given = given;
    this.#generation = new Generation(given, ANSWER_PARTS);
  }

  async whole(): Promise<object> {
    const result = resultIn(await this.#generation.results());
    const blocks = new MessageBlocks(() => {}, this.#given.asked.hidesThoughts);
    for (const part of wholePartsOf(result)) blocks.push(part);
    return this.#messageOf({
      content: blocks.end(isCut(result)),
      ...endOf(result),
      usage: usageOf(result.usage),
    });
  }

  async stream(exchange: Exchange): Promise<void> {
    const stream = new EventStream(exchange);
    const send = (type: string, fields: object): void => stream.send({ type, ...fields }, type);
    const blocks = new MessageBlocks(send, this.#given.asked.hidesThoughts);
    let hasBegun = false;
    const begin = (numPromptTokens: number, numCachedTokens: number): void => {
      if (hasBegun) return;
      hasBegun = true;
      const usage = usageOf({ numPromptTokens, numCachedTokens, numOutputTokens: 0 });
      const message = this.#messageOf({ content: [], stop_reason: null, stop_sequence: null, usage });
      send('message_start', { message });
    };
    const results = await this.#generation.stream(
      () => stream.open((error) => stream.send(exchange.describeError(error), 'error')),
      ({ choice, used, numCachedTokens }) => {
        begin(used.prompt_tokens, numCachedTokens);
        for (const part of choice.parts) blocks.push(part);
      },
    );
    const result = resultIn(results);
    begin(result.usage.numPromptTokens, result.usage.numCachedTokens);
    blocks.end(isCut(result));
    send('message_delta', { delta: endOf(result), usage: usageOf(result.usage) });
    send('message_stop', {});
    stream.close();
  }

  #messageOf(rest: object): object {
    return {
      id: `msg_${this.#given.context.requestId}`,
      type: 'message',
      role: 'assistant',
      model: this.#generation.model.id,
      ...rest,
    };
  }
}

/** A stop sequence that cuts a call is the reason, and not the calls before it. */
function endOf(result: GenerationResult) {
  const { finishReason, stopString } = result;
  const stopped = stopString === undefined ? 'end_turn' : 'stop_sequence';
  return {
    stop_reason: finishReason === 'length' ? 'max_tokens' : endsWithCalls(result) ? 'tool_use' : stopped,
    stop_sequence: stopString ?? null,
  };
}

/** `input_tokens` are those that were computed. */
function usageOf({ numPromptTokens, numCachedTokens, numOutputTokens }: GenerationResult['usage']) {
  return {
    input_tokens: numPromptTokens - numCachedTokens,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: numCachedTokens,
    output_tokens: numOutputTokens,
  };
}
