import {
  TEXT_GENERATOR,
  type ChatMessage,
  type GenerationOptions,
  type GenerationResponse,
  type TabserveClient,
} from '../index.ts';

/** An answer that may fill the context reserves memory for all of it, so that fewer sessions run side by side. */
const DEFAULT_MAX_NEW_TOKENS = 1024;

export interface Answering {
  /** The most tokens of the answer, whatever the session's options say. */
  readonly contextWindow: number;
  readonly signal: AbortSignal;
  /** The beginning of the answer, which the model continues. */
  readonly prefix: string | undefined;
  /** Called with each piece of the answer. */
  readonly onText: ((text: string) => void) | undefined;
}

export interface ChatSize {
  readonly numTokens: number;
  readonly contextWindow: number;
}

/** The most tokens of prompt and answer together, by the model's context and the policy of all tabs. */
export function contextWindowOf(
  serve: TabserveClient,
  { contextLength }: { readonly contextLength: number },
): number {
  return Math.min(contextLength, serve.status().policy.maxContextLength);
}

/** The current model of all tabs, as sessions use it. */
export class ChatModel {
  readonly #serve: TabserveClient;
  readonly #options: GenerationOptions;

  constructor(serve: TabserveClient, options: GenerationOptions) {
    this.#serve = serve;
    this.#options = options;
  }

  /** Counts the tokens of messages, rendered by the model's template. Rejects as `tokenizeChat` does. */
  async measure(messages: readonly ChatMessage[]): Promise<ChatSize> {
    const tokenization = await this.#tokenize(messages, false);
    return {
      numTokens: tokenization.tokenIds.length,
      contextWindow: contextWindowOf(this.#serve, tokenization),
    };
  }

  /**
   * Computes the keys and values of messages, which the worker keeps for the next prompt. Samples one token and drops it: a request
   * for no tokens would neither reuse nor leave keys and values. Rejects as a response does.
   */
  async prefill(messages: readonly ChatMessage[], signal?: AbortSignal): Promise<void> {
    const options = { ...this.#options, maxNewTokens: 1, minTokens: 0, ...(signal && { signal }) };
    await this.#serve.getHandle(TEXT_GENERATOR).remote(messages, options).result();
  }

  /** Resolves with the answer, without its prefix. Rejects as a response does. */
  async answer(messages: readonly ChatMessage[], answering: Answering): Promise<string> {
    const { contextWindow, prefix, signal, onText } = answering;
    const { maxNewTokens = DEFAULT_MAX_NEW_TOKENS } = this.#options;
    const options = { ...this.#options, maxNewTokens: Math.min(maxNewTokens, contextWindow), signal };
    const response =
      prefix === undefined
        ? this.#serve.getHandle(TEXT_GENERATOR).remote(messages, options)
        : await this.#continue(messages, prefix, options);
    if (onText) await streamTo(response, signal, onText);
    return (await response.result()).generatedText;
  }

  /** The template closes every message, so the tokens of a begun answer follow those of the chat. */
  async #continue(
    messages: readonly ChatMessage[],
    prefix: string,
    { chatTemplateArguments: _arguments, ...options }: GenerationOptions & { readonly signal: AbortSignal },
  ): Promise<GenerationResponse> {
    const [chat, begun] = await Promise.all([
      this.#tokenize(messages, true),
      this.#serve.tokenize(prefix, { addSpecialTokens: false }),
    ]);
    return this.#serve.getHandle(TEXT_GENERATOR).remote([...chat.tokenIds, ...begun.tokenIds], options);
  }

  #tokenize(messages: readonly ChatMessage[], addGenerationPrompt: boolean) {
    const { chatTemplateArguments = {} } = this.#options;
    return this.#serve.tokenizeChat(messages, { addGenerationPrompt, chatTemplateArguments });
  }
}

/** @throws DOMException named OperationError if another model starts an answer again after part of it was sent. */
async function streamTo(
  response: GenerationResponse,
  signal: AbortSignal,
  onText: (text: string) => void,
): Promise<void> {
  let hasText = false;
  for await (const { text, isRestart } of response) {
    signal.throwIfAborted();
    if (isRestart && hasText) {
      response.cancel();
      throw new DOMException(
        'Another model was loaded in the middle of the answer: send the prompt again.',
        'OperationError',
      );
    }
    if (text === '') continue;
    hasText = true;
    onText(text);
  }
}
