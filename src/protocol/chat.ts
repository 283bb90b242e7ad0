import * as v from 'valibot';
import type { GenerationOptions } from '../batching/options/generation-options.ts';
import { isRecord } from '../platform/is-record.ts';
import { toolCall } from './answers.ts';
import type { Wire } from './wire.ts';

const textPart = v.strictObject({
  /** The kind of part: a text. */
  type: v.literal('text'),
  /** The part's text. */
  text: v.string(),
});

/**
 * A part of a message's content.
 *
 * @interface
 */
export type TextPart = Wire<typeof textPart>;

export const chatMessage = v.strictObject({
  /** The author's role. A template may allow `system` for the first message only. */
  role: v.picklist(['system', 'user', 'assistant', 'tool']),
  /**
   * Plain text, or parts of it. Of the role `tool`: what the tool has answered. An answer with calls may have none: null or left
   * out, which some templates tell apart.
   */
  content: v.exactOptional(v.nullable(v.union([v.string(), v.pipe(v.array(textPart), v.minLength(1))]))),
  /** The author's name. Most templates leave it out. */
  name: v.exactOptional(v.string()),
  /** The model's thoughts before this answer. Some templates repeat it while tools are called. */
  reasoning: v.exactOptional(v.string()),
  /** The calls of an answer. */
  toolCalls: v.exactOptional(v.array(toolCall)),
  /** The ID of the call that a message with the role `tool` answers. */
  toolCallId: v.exactOptional(v.string()),
});
/**
 * One message of a chat.
 *
 * @interface
 */
export type ChatMessage = Wire<typeof chatMessage>;

/** Parts of a message are lines where a text is needed, as in vLLM. */
const BETWEEN_PARTS = '\n';

export function textOfContent(content: ChatMessage['content']): string {
  if (typeof content === 'string') return content;
  return (content ?? []).map(({ text }) => text).join(BETWEEN_PARTS);
}

/**
 * A text, the IDs of its tokens, or a chat: non-empty; shorter than the model's context, in tokens, or as long where
 * `maxNewTokens` is 0. A chat goes through the model's own chat template.
 */
export type Prompt = string | readonly number[] | readonly ChatMessage[];

/** How to turn a chat into tokens. */
export interface TokenizeChatOptions extends Pick<GenerationOptions, 'chatTemplateArguments' | 'tools'> {
  /** Whether to add the beginning of the model's answer, as for a prompt. True by default. */
  readonly addGenerationPrompt?: boolean | undefined;
  /** Whether to leave the last message open, as for an answer that continues it. False by default. */
  readonly continueFinalMessage?: boolean | undefined;
}

/** In UTF-16 units, without what a template adds. */
export function lengthOfChat(messages: readonly ChatMessage[]): number {
  return messages.reduce((sum, { content, reasoning = '', toolCalls = [] }) => {
    const ofCalls = toolCalls.map((call) => call.arguments.length);
    return [textOfContent(content).length, reasoning.length, ...ofCalls].reduce(
      (total, length) => total + length,
      sum,
    );
  }, 0);
}

/** Whether a prompt is a list of messages, well-formed or not. */
export function isChat(prompt: unknown): prompt is readonly unknown[] {
  return Array.isArray(prompt) && isRecord(prompt[0]);
}
