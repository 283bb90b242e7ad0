import {
  type ChatMessage,
  type GenerationOptions,
  type GenerationResponse,
  type ResponseFormat,
  type TabserveClient,
} from '../index.ts';
import { joinParts } from '../../protocol/answers.ts';
import type { SessionTool } from './tools.ts';

/** An answer that may fill the context takes the memory of the whole context, and fewer sessions run side by side. */
const DEFAULT_MAX_NEW_TOKENS = 1024;

export interface Answering {
  /** Limit of the answer's tokens, whatever the options ask for. */
  readonly contextWindow: number;
  readonly signal: AbortSignal;
  /** The beginning of the answer, which the answer goes on from. */
  readonly prefix: string | undefined;
  readonly format: ResponseFormat | undefined;
  /** Called with each piece of the answer. */
  readonly onText: ((text: string) => void) | undefined;
}

export interface ChatSize {
  readonly numTokens: number;
  readonly contextWindow: number;
}

/** Tokens that prompt and answer may have together: the smaller limit of the model and of the policy of all tabs. */
export function contextWindowOf(
  serve: TabserveClient,
  { contextLength }: { readonly contextLength: number },
): number {
  return Math.min(contextLength, serve.status().policy.maxContextLength);
}

/** The model's answer: a text, perhaps empty, and calls. */
type Answer = ChatMessage & { readonly content: string };

/** The model that serves all tabs, as a session talks to it. */
export class ChatModel {
  readonly #serve: TabserveClient;
  readonly #options: GenerationOptions;
  /** As the options have them, and how they are run. */
  readonly tools: readonly SessionTool[];

  constructor(serve: TabserveClient, options: GenerationOptions, tools: readonly SessionTool[] = []) {
    this.#serve = serve;
    this.#options = options;
    this.tools = tools;
  }

  /** Measures messages as the model's template writes them. Rejects as `tokenizeChat` does. */
  async measure(messages: readonly ChatMessage[]): Promise<ChatSize> {
    const tokenization = await this.#tokenize(messages, false);
    return {
      numTokens: tokenization.tokenIds.length,
      contextWindow: contextWindowOf(this.#serve, tokenization),
    };
  }

  /**
   * Computes the keys and values of messages, which the worker keeps for the next prompt. One token is sampled and dropped: a
   * request for none would take over no keys and values, and leave none. Rejects as a response does.
   */
  async prefill(messages: readonly ChatMessage[], signal?: AbortSignal): Promise<void> {
    const options = { ...this.#options, maxNewTokens: 1, minTokens: 0, ...(signal && { signal }) };
    await this.#serve.generate(messages, options);
  }

  /** Resolves with the answer, without its prefix. Rejects as a response does. */
  async answer(messages: readonly ChatMessage[], answering: Answering): Promise<Answer> {
    const { contextWindow, prefix, signal, format, onText } = answering;
    const { maxNewTokens = DEFAULT_MAX_NEW_TOKENS } = this.#options;
    const options = {
      ...this.#options,
      maxNewTokens: Math.min(maxNewTokens, contextWindow),
      signal,
      ...(format && { responseFormat: prefix === undefined ? format : { ...format, prefix } }),
    };
    const response =
      prefix === undefined
        ? this.#serve.generate(messages, options)
        : this.#serve.generate(await this.#tokensOf(messages, prefix), withoutTemplate(options));
    if (onText) await streamTo(response, signal, onText);
    const { answer, generatedText } = await response.result();
    const { reasoning = '', content = generatedText, toolCalls = [] } = answer ?? {};
    return {
      role: 'assistant',
      content,
      ...(reasoning !== '' && { reasoning }),
      ...(toolCalls.length > 0 && { toolCalls }),
    };
  }

  /** The template ends every message, so the tokens of a begun answer follow those of the chat. */
  async #tokensOf(messages: readonly ChatMessage[], prefix: string): Promise<readonly number[]> {
    const [chat, begun] = await Promise.all([
      this.#tokenize(messages, true),
      this.#serve.tokenize(prefix, { addSpecialTokens: false }),
    ]);
    return [...chat.tokenIds, ...begun.tokenIds];
  }

  #tokenize(messages: readonly ChatMessage[], addGenerationPrompt: boolean) {
    const { chatTemplateArguments = {}, tools } = this.#options;
    return this.#serve.tokenizeChat(messages, { addGenerationPrompt, chatTemplateArguments, tools });
  }
}

/** Token IDs go through no template. */
function withoutTemplate<Options extends GenerationOptions>({
  chatTemplateArguments: _arguments,
  tools: _tools,
  ...options
}: Options) {
  return options;
}

/** @throws DOMException named OperationError if another model takes over after a part of the answer was sent. */
async function streamTo(
  response: GenerationResponse,
  signal: AbortSignal,
  onText: (text: string) => void,
): Promise<void> {
  let hasText = false;
  for await (const { text: raw, parts, isRestart } of response) {
    signal.throwIfAborted();
    if (isRestart && hasText) {
      throw new DOMException(
        'Another model was loaded in the middle of the answer: send the prompt again.',
        'OperationError',
      );
    }
    const text = parts ? joinParts(parts).content : raw;
    if (text === '') continue;
    hasText = true;
    onText(text);
  }
}
