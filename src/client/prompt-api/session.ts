import type { ChatMessage, ResponseFormat } from '../index.ts';
import { untilAborted } from '../../platform/until-aborted.ts';
import type { ChatModel } from './chat-model.ts';
import { quotaExceeded, toDomException } from './dom-errors.ts';
import { checkPrompt, type Input } from './read-prompt.ts';
import { answerCalls } from './tools.ts';

/** Share of the context window that an answer has at least. Older turns are evicted for it. */
const MIN_ANSWER_SHARE = 1 / 8;

/** The messages and answers of a session. Immutable, so that clones can share it. */
interface Context {
  /** An overflow does not evict them: the initial prompts, or a system message that began the session. */
  readonly kept: readonly ChatMessage[];
  readonly turns: readonly ChatMessage[];
  /** Tokens that the model's template makes of all messages; 0 without any. */
  readonly usage: number;
}

export interface SessionState {
  readonly context: Context;
  /** In tokens. */
  readonly contextWindow: number;
}

/** How a prompt is answered. */
export interface Prompting {
  readonly signal: AbortSignal;
  readonly format: ResponseFormat | undefined;
  /** Called with each piece of the answer. */
  readonly onText?: (text: string) => void;
}

/** One conversation. Its prompts run one after another, beside those of other sessions. */
export class Session {
  readonly #model: ChatModel;
  readonly #onOverflow: () => void;
  #context: Context;
  #contextWindow: number;
  /** The last operation; it never rejects. */
  #last: Promise<void> = Promise.resolve();

  /** @param onOverflow Called when turns were evicted. */
  constructor(model: ChatModel, { context, contextWindow }: SessionState, onOverflow: () => void) {
    this.#model = model;
    this.#context = context;
    this.#contextWindow = contextWindow;
    this.#onOverflow = onOverflow;
  }

  get state(): SessionState {
    return { context: this.#context, contextWindow: this.#contextWindow };
  }

  /** Resolves with the tokens that the input would add. */
  measure(input: Input, signal: AbortSignal): Promise<number> {
    return runUntilAborted(signal, async () => {
      // A system message can begin a session alone, so the messages that follow it are measured alone.
      const isBeginning = input[0]?.role === 'system';
      const { messages, prefix } = checkPrompt(input, this.#hasBegun && !isBeginning);
      const added = withAnswer(messages, prefix);
      if (isBeginning) return (await this.#model.measure(added)).numTokens;
      const { numTokens } = await this.#model.measure([...messagesOf(this.#context), ...added]);
      return numTokens - this.#context.usage;
    });
  }

  append(input: Input, signal: AbortSignal): Promise<void> {
    return this.#next(signal, async () => {
      const { messages, prefix } = checkPrompt(input, this.#hasBegun);
      const added = withAnswer(messages, prefix);
      const numTokens = await this.#makeRoom(added, 0);
      await this.#model.prefill([...messagesOf(this.#context), ...added], signal);
      this.#context = extend(this.#context, added, numTokens);
    });
  }

  /** Resolves with the whole answer, without the prefix. Tools that the model calls are run before. */
  prompt(input: Input, { signal, format, onText }: Prompting): Promise<string> {
    return this.#next(signal, async () => {
      const { messages, prefix } = checkPrompt(input, this.#hasBegun);
      await this.#makeRoom(withAnswer(messages, prefix), MIN_ANSWER_SHARE);
      let text = '';
      let added = messages;
      for (let round = 0; ; round += 1) {
        const chat = [...messagesOf(this.#context), ...added];
        const contextWindow = this.#contextWindow;
        const answer = await this.#model.answer(chat, { contextWindow, prefix, signal, format, onText });
        text += answer.content;
        const { toolCalls } = answer;
        added = [...added, { ...answer, content: `${prefix ?? ''}${answer.content}` }];
        if (!toolCalls) break;
        added = [...added, ...(await answerCalls(this.#model.tools, toolCalls, round))];
        signal.throwIfAborted();
      }
      const { numTokens } = await this.#model.measure([...messagesOf(this.#context), ...added]);
      // An aborted answer does not join the session.
      signal.throwIfAborted();
      this.#context = extend(this.#context, added, numTokens);
      return text;
    });
  }

  get #hasBegun(): boolean {
    return messagesOf(this.#context).length > 0;
  }

  /**
   * Evicts as many of the oldest turns as the new messages need, and none if that is not enough. Resolves with the tokens of the
   * remaining turns and the new messages.
   *
   * @param share Share of the context window for the answer; less if evicting all turns is not enough.
   * @throws QuotaExceededError
   */
  async #makeRoom(added: readonly ChatMessage[], share: number): Promise<number> {
    const { kept } = this.#context;
    const requested = await this.#model.measure([...messagesOf(this.#context), ...added]);
    const { contextWindow } = requested;
    this.#contextWindow = contextWindow;
    const withRoom = contextWindow - Math.floor(contextWindow * share);
    let fitting =
      requested.numTokens <= contextWindow ? { ...requested, turns: this.#context.turns } : undefined;
    for (const turns of evictions(this.#context)) {
      if (fitting && fitting.numTokens <= withRoom) break;
      const size = await this.#model.measure([...kept, ...turns, ...added]);
      if (size.numTokens <= withRoom || (!fitting && size.numTokens <= contextWindow))
        fitting = { ...size, turns };
    }
    if (!fitting) throw quotaExceeded({ requested: requested.numTokens, quota: contextWindow });
    if (fitting.turns !== this.#context.turns) await this.#evict(fitting.turns);
    return fitting.numTokens;
  }

  async #evict(turns: readonly ChatMessage[]): Promise<void> {
    const { kept } = this.#context;
    const left = [...kept, ...turns];
    const usage = left.length > 0 ? (await this.#model.measure(left)).numTokens : 0;
    this.#context = { kept, turns, usage };
    this.#onOverflow();
  }

  #next<Result>(signal: AbortSignal, operation: () => Promise<Result>): Promise<Result> {
    const result = this.#last.then(() => {
      signal.throwIfAborted();
      return operation();
    });
    this.#last = result.then(goOn, goOn);
    return runUntilAborted(signal, () => result);
  }
}

/** The next operation runs after the last one, however that ended. */
function goOn(): void {}

/** Runs an operation with the errors of the Prompt API. Rejects with the signal's reason as soon as it aborts. */
export async function runUntilAborted<Result>(
  signal: AbortSignal,
  operation: () => Promise<Result>,
): Promise<Result> {
  signal.throwIfAborted();
  try {
    return await untilAborted(operation(), signal);
  } catch (error) {
    throw signal.aborted ? signal.reason : toDomException(error);
  }
}

function withAnswer(messages: readonly ChatMessage[], answer: string | undefined): readonly ChatMessage[] {
  return answer === undefined ? messages : [...messages, { role: 'assistant', content: answer }];
}

function messagesOf({ kept, turns }: Context): readonly ChatMessage[] {
  return [...kept, ...turns];
}

/** @param usage Tokens of the longer context. */
function extend(context: Context, messages: readonly ChatMessage[], usage: number): Context {
  const { kept, turns } = context;
  const isFirst = kept.length === 0 && turns.length === 0;
  const numKept = isFirst && messages[0]?.role === 'system' ? 1 : 0;
  return {
    kept: [...kept, ...messages.slice(0, numKept)],
    turns: [...turns, ...messages.slice(numKept)],
    usage,
  };
}

/** The turns that remain after one, two and more pairs of prompt and answer are evicted, up to all. */
function* evictions({ turns }: Context): Generator<readonly ChatMessage[]> {
  for (let end = 1; end <= turns.length; end += 1) {
    const isPairOver = turns[end - 1]?.role === 'assistant' && turns[end]?.role !== 'assistant';
    if (isPairOver || end === turns.length) yield turns.slice(end);
  }
}
