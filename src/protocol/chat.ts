import * as v from 'valibot';
import type { GenerationOptions } from '../batching/generation/options.ts';
import { isRecord } from '../platform/is-record.ts';
import type { Wire } from './wire.ts';

export const chatMessage = v.strictObject({
  /** The author's role. A template may allow `system` for the first message only. */
  role: v.picklist(['system', 'user', 'assistant']),
  /** Plain text. */
  content: v.string(),
});
/**
 * One message of a chat.
 *
 * @interface
 */
export type ChatMessage = Wire<typeof chatMessage>;

/** How to turn a chat into tokens. */
export interface TokenizeChatOptions extends Pick<GenerationOptions, 'chatTemplateArguments'> {
  /** Whether to add the beginning of the model's answer, as for a prompt. True by default. */
  readonly addGenerationPrompt?: boolean | undefined;
}

/** In UTF-16 units, without what a template adds. */
export function lengthOfChat(messages: readonly ChatMessage[]): number {
  return messages.reduce((sum, { content }) => sum + content.length, 0);
}

/** Whether a prompt is a list of messages, well-formed or not. */
export function isChat(prompt: unknown): prompt is readonly unknown[] {
  return Array.isArray(prompt) && isRecord(prompt[0]);
}
