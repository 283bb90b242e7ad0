import type { ChatMessage } from '../index.ts';

/** The messages and answers of a session. Immutable, so that clones can share it. */
export interface Context {
  /** An overflow does not evict them: the initial prompts, or a system message that began the session. */
  readonly kept: readonly ChatMessage[];
  readonly turns: readonly ChatMessage[];
  /** Tokens that the model's template makes of all messages; 0 without any. */
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

/** The turns that remain after one, two and more pairs of prompt and answer are evicted, up to all. */
export function* evictions({ turns }: Context): Generator<readonly ChatMessage[]> {
  for (let end = 1; end <= turns.length; end += 1) {
    const isPairOver = turns[end - 1]?.role === 'assistant' && turns[end]?.role !== 'assistant';
    if (isPairOver || end === turns.length) yield turns.slice(end);
  }
}
