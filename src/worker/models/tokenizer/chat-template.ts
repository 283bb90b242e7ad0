import type { PreTrainedTokenizer } from '@huggingface/transformers';

import type { ChatMessage } from '../../protocol/chat.ts';
import { ChatTemplateError } from '../../protocol/errors/model.ts';
import { formatDate } from './format-date.ts';

/** How a model's chats are written. */
export interface ChatTemplate {
  /**
   * Renders the messages and the beginning of the model's answer, unless `addGenerationPrompt` is false. The text has its
   * special tokens already.
   *
   * @param variables What the template asks for by name, such as `enable_thinking` (Qwen3) or `date_string` (Llama 3.2,
   * which else writes today's date).
   * @throws ChatTemplateError
   */
  render(
    messages: readonly ChatMessage[],
    variables?: Readonly<Record<string, unknown>>,
    addGenerationPrompt?: boolean,
  ): string;
}

/** The library's own function writes months in the browser's language. Models know those in English, as Python's. */
const WITH_ENGLISH_DATES = "{%- set strftime_now = format_date %}{{ '' }}";

/** `undefined` for a base model, which has no template. */
export function chatTemplateOf(tokenizer: PreTrainedTokenizer): ChatTemplate | undefined {
  if (tokenizer.chat_template == null) return undefined;
  return {
    render(messages, variables, addGenerationPrompt = true) {
      const conversation = [...messages];
      try {
        const context: Readonly<Record<string, unknown>> = {
          ...variables,
          // A request may give the template its variables, but no other template or messages.
          chat_template: WITH_ENGLISH_DATES + tokenizer.get_chat_template(),
          messages: conversation,
          format_date: (format: string) => formatDate(new Date(), format),
        };
        return tokenizer.apply_chat_template(conversation, {
          ...context,
          tokenize: false,
          add_generation_prompt: addGenerationPrompt,
        });
      } catch (cause) {
        throw ChatTemplateError.of(cause instanceof Error ? cause.message : String(cause), cause);
      }
    },
  };
}
