import type { AnswerPart } from '../../../src/client/index.ts';
import type { GenerationResult } from '../../../src/protocol/generation.ts';
import type { ToolCall } from '../../../src/protocol/answers.ts';
import { EventStream, JSON_LINES } from '../../http/event-stream.ts';
import type { Exchange } from '../../http/exchange.ts';
import {
  ANSWER_PARTS,
  answerOf,
  isCut,
  resultIn,
  wholeCallsOf,
  type AnswerParts,
} from '../openai/chat-answer.ts';
import { wholeArguments } from '../openai/whole-arguments.ts';
import { Generation, type AskedGeneration } from '../openai/generation.ts';
import type { OllamaRequest } from './ollama-request.ts';

/** The text of an answer, or a piece of it. */
interface Said {
  readonly content: string;
  readonly thinking?: string;
  readonly toolCalls?: readonly PlacedCall[];
}

interface PlacedCall extends ToolCall {
  /** Its place among the calls of the answer. */
  readonly index: number;
}

/** How one of the two endpoints writes it. */
export type Write = (said: Said) => object;

export const writeMessage: Write = ({ content, thinking = '', toolCalls = [] }) => ({
  message: {
    role: 'assistant',
    content,
    ...(thinking !== '' && { thinking }),
    ...(toolCalls.length > 0 && { tool_calls: toolCalls.map(describeCall) }),
  },
});

export const writeResponse: Write = ({ content, thinking = '' }) => ({
  response: content,
  ...(thinking !== '' && { thinking }),
});

/** The answer to one request of Ollama's API, whole or as a stream. */
export class OllamaAnswer {
  readonly #asked: OllamaRequest;
  readonly #generation: Generation<AnswerParts>;
  readonly #write: Write;
  /** The name that the client knows the model by. */
  readonly #servedId: string;

  constructor(given: AskedGeneration<OllamaRequest>, servedId: string, write: Write) {
    this.#asked = given.asked;
    this.#generation = new Generation(given, ANSWER_PARTS);
    this.#servedId = servedId;
    this.#write = write;
  }

  async whole(): Promise<object> {
    const { isFor } = this.#asked;
    if (isFor) return this.#onlyTold(isFor);
    const result = resultIn(await this.#generation.results());
    const { reasoning, content } = answerOf(result);
    const toolCalls = wholeCallsOf(result).map((call, index) => ({ ...call, index }));
    return { ...this.#partOf({ content, thinking: reasoning, toolCalls }), ...endOf(result) };
  }

  async stream(exchange: Exchange): Promise<void> {
    const stream = new EventStream(exchange, JSON_LINES);
    const open = (): void => stream.open((error) => stream.send(exchange.describeError(error)));
    const { isFor } = this.#asked;
    if (isFor) {
      open();
      stream.send(this.#onlyTold(isFor));
    } else {
      const calls = new WholeCalls();
      const send = (said: Said): void => stream.send({ ...this.#partOf(said), done: false });
      const results = await this.#generation.stream(open, ({ choice }) => {
        for (const part of choice.parts) {
          const toolCalls = calls.before(part);
          if (toolCalls.length > 0) send({ content: '', toolCalls });
          if (part.type === 'content') send({ content: part.text });
          if (part.type === 'reasoning') send({ content: '', thinking: part.text });
        }
      });
      const result = resultIn(results);
      const toolCalls = calls.end(isCut(result));
      if (toolCalls.length > 0) send({ content: '', toolCalls });
      stream.send({ ...this.#partOf({ content: '' }), ...endOf(result) });
    }
    stream.close();
  }

  #onlyTold(reason: string): object {
    return { ...this.#partOf({ content: '' }), done: true, done_reason: reason };
  }

  #partOf(said: Said): object {
    return { model: this.#servedId, created_at: new Date().toISOString(), ...this.#write(said) };
  }
}

/** Collects the pieces of calls, which this API sends whole. */
class WholeCalls {
  #open: ToolCall | undefined;
  #numEnded = 0;

  /** The call that ends where this part begins, if one does. */
  before(part: AnswerPart): readonly PlacedCall[] {
    if (part.type === 'tool-arguments') {
      if (this.#open) this.#open = { ...this.#open, arguments: this.#open.arguments + part.text };
      return [];
    }
    const ended = this.end(false);
    if (part.type === 'tool-call') this.#open = { id: part.id, name: part.name, arguments: '' };
    return ended;
  }

  /** One that was cut is left out. @param isEndCut Whether the answer was cut where this call ends. */
  end(isEndCut: boolean): readonly PlacedCall[] {
    const call = this.#open;
    this.#open = undefined;
    if (!call || wholeArguments(call.arguments, isEndCut) === undefined) return [];
    this.#numEnded += 1;
    return [{ ...call, index: this.#numEnded - 1 }];
  }
}

function describeCall({ id, name, arguments: json, index }: PlacedCall): object {
  return { id, function: { index, name, arguments: wholeArguments(json, false) } };
}

function inNanoseconds(ms: number): number {
  return Math.round(ms * 1e6);
}

function endOf({ finishReason, usage, timings: { ttftMs, e2eMs } }: GenerationResult): object {
  return {
    done: true,
    done_reason: finishReason === 'length' ? finishReason : 'stop',
    total_duration: inNanoseconds(e2eMs),
    load_duration: 0,
    prompt_eval_count: usage.numPromptTokens,
    prompt_eval_duration: inNanoseconds(ttftMs),
    eval_count: usage.numOutputTokens,
    eval_duration: inNanoseconds(Math.max(0, e2eMs - ttftMs)),
  };
}
