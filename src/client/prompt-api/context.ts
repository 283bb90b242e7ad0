import type { ChatMessage } from '../index.ts';

/** The messages and answers of a session. Immutable, so that clones share it. */
export interface Context {
  /** Messages that an overflow does not evict: the initial prompts, or a system message that began the session. */
  readonly kept: readonly ChatMessage[];
  readonly turns: readonly ChatMessage[];
  /** Tokens of all messages, rendered by the model's template; 0 without any. */
  readonly usage: number;
}

export function messagesOf({ kept, turns }: Context): readonly ChatMessage[] {
  return [...kept, ...turns];
}

/** @param usage Tokens of the longer context. */
export function extend(context: Context, messages: readonly ChatMessage[], usage: number): Context {
  const { kept, turns } = context;
  const isFirst = kept.length === 0 && turns.length === 0;
  const numKept = isFirst && messages[0]?.role === 'system' ? 1 : 0;
  return {
    kept: [...kept, ...messages.slice(0, numKept)],
    turns: [...turns, ...messages.slice(numKept)],
    usage,
  };
}

/** The remaining turns after evicting one pair of prompt and answer, then two, and so on up to all. */
export function* evictions({ turns }: Context): Generator<readonly ChatMessage[]> {
  for (let end = 1; end <= turns.length; end += 1) {
    const isPairOver = turns[end - 1]?.role === 'assistant' && turns[end]?.role !== 'assistant';
    if (isPairOver || end === turns.length) yield turns.slice(end);
  }
}
