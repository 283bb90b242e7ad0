import type { ChatModel } from './chat-model.ts';
import { EventHandler } from './event-handler.ts';
import { readInput, readPromptOptions, withNote } from './read-prompt.ts';
import type { SamplingParameters } from './sampling.ts';
import { Session, runUntilAborted, type SessionState } from './session.ts';
import type {
  LanguageModelPrompt,
  LanguageModelPromptOptions,
  LanguageModelSamplingMode,
  LanguageModelSignalOptions,
} from './types.ts';
import { toDictionary, toSignal } from './web-idl.ts';

/** The parts of a session. */
export interface Parts {
  readonly model: ChatModel;
  readonly state: SessionState;
  /** Null where `parameters` were given. */
  readonly samplingMode: LanguageModelSamplingMode | null;
  readonly parameters: SamplingParameters;
  /** Destroys the session when it aborts. */
  readonly signal: AbortSignal | undefined;
  /** Makes another session of the same class. */
  readonly clone: (parts: Parts) => LanguageModel;
}

/** A session with the model. */
export class LanguageModel extends EventTarget {
  readonly #parts: Parts;
  readonly #session: Session;
  readonly #destruction = new AbortController();
  readonly #overflow = new EventHandler(this, 'contextoverflow');

  /** @throws TypeError without parts: sessions come from `create()`. */
  constructor(parts?: Parts) {
    if (!parts) throw new TypeError('Illegal constructor: call LanguageModel.create().');
    super();
    this.#parts = parts;
    this.#session = new Session(parts.model, parts.state, () => {
      this.dispatchEvent(new Event('contextoverflow'));
    });
    const { signal } = parts;
    signal?.addEventListener('abort', () => this.#destruction.abort(signal.reason), {
      signal: this.#destruction.signal,
    });
  }

  /** Tokens that the session's messages and answers take. */
  get contextUsage(): number {
    return this.#session.state.context.usage;
  }

  /** Tokens that prompts and answers may have together. */
  get contextWindow(): number {
    return this.#session.state.contextWindow;
  }

  /** Null where the session was created with `topK` or `temperature`. */
  get samplingMode(): LanguageModelSamplingMode | null {
    return this.#parts.samplingMode;
  }

  /** Called when a prompt has evicted older turns. */
  get oncontextoverflow(): EventHandler['handler'] {
    return this.#overflow.handler;
  }

  set oncontextoverflow(handler: EventHandler['handler']) {
    this.#overflow.handler = handler;
  }

  /**
   * Answers a prompt, which joins the session with its answer. Prompts of one session run one after another, and those of several
   * sessions in one batch.
   *
   * The model may call the session's tools first. Their answers join the session, too.
   *
   * Rejects with a TypeError, the reason of a signal, the error of a tool, or a DOMException: NotSupportedError for anything but
   * text, or a constraint that can't be enforced, SyntaxError for a
   * misplaced `prefix`, QuotaExceededError for a prompt beyond the context window, AbortError after `destroy()`, and UnknownError
   * with the client's error as its `cause`.
   */
  async prompt(input: LanguageModelPrompt, options?: LanguageModelPromptOptions): Promise<string> {
    const { signal, constraint } = readPromptOptions(options);
    const messages = withNote(readInput(input), constraint?.note);
    return this.#session.prompt(messages, { signal: this.#signalWith(signal), format: constraint?.format });
  }

  /**
   * As `prompt`, piece by piece. Cancelling the stream ends the answer, and keeps the prompt out of the session.
   *
   * @throws The errors of `prompt` that are known at once; otherwise the stream fails.
   */
  promptStreaming(input: LanguageModelPrompt, options?: LanguageModelPromptOptions): ReadableStream<string> {
    const { signal: given, constraint } = readPromptOptions(options);
    const messages = withNote(readInput(input), constraint?.note);
    const signal = this.#signalWith(given);
    signal.throwIfAborted();
    const cancellation = new AbortController();
    const end = AbortSignal.any([signal, cancellation.signal]);
    return new ReadableStream<string>({
      start: (controller) => {
        this.#session
          .prompt(messages, {
            signal: end,
            format: constraint?.format,
            onText: (text) => controller.enqueue(text),
          })
          .then(
            () => controller.close(),
            (error: unknown) => controller.error(error),
          );
      },
      cancel: (reason) => cancellation.abort(reason),
    });
  }

  /** Adds messages without asking for an answer, and computes them ahead. Rejects as `prompt` does. */
  async append(input: LanguageModelPrompt, options?: LanguageModelSignalOptions): Promise<undefined> {
    const messages = readInput(input);
    await this.#session.append(messages, this.#signalWith(readSignal(options)));
    return undefined;
  }

  /** Resolves with the tokens that the input would add to the session. Rejects as `prompt` does. */
  async measureContextUsage(
    input: LanguageModelPrompt,
    options?: LanguageModelPromptOptions,
  ): Promise<number> {
    const { signal, constraint } = readPromptOptions(options);
    const messages = withNote(readInput(input), constraint?.note);
    return this.#session.measure(messages, this.#signalWith(signal));
  }

  /** Resolves with a new session that begins with the messages of this one. The worker shares their keys and values. */
  async clone(options?: LanguageModelSignalOptions): Promise<LanguageModel> {
    const signal = this.#signalWith(readSignal(options));
    return runUntilAborted(signal, async () => {
      // Also sees a signal that aborts in the same task as the call.
      await Promise.resolve();
      const { clone } = this.#parts;
      return clone({ ...this.#parts, signal: undefined, state: this.#session.state });
    });
  }

  /** Ends running operations and refuses later ones with an AbortError. */
  destroy(): undefined {
    this.#destruction.abort(new DOMException('The session was destroyed: create another one.', 'AbortError'));
  }

  #signalWith(signal: AbortSignal | undefined): AbortSignal {
    return signal ? AbortSignal.any([this.#destruction.signal, signal]) : this.#destruction.signal;
  }
}

/** @throws TypeError */
function readSignal(options: unknown): AbortSignal | undefined {
  return toSignal(toDictionary('options', options)['signal']);
}
