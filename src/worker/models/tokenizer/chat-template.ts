import type { PreTrainedTokenizer } from '@huggingface/transformers';

import { importPart } from '../../import-part.ts';
import type { ChatMessage } from '../../../protocol/chat.ts';
import { ChatTemplateError } from '../../../protocol/errors/model.ts';
import type { BoundedTemplate } from './bounded-template.ts';
import { formatDate } from './format-date.ts';

/** How a model's chats are written. */
export interface ChatTemplate {
  /**
   * Renders the messages and the beginning of the model's answer, unless `addGenerationPrompt` is false. The text has its
   * special tokens already.
   *
   * @param variables Variables of the template, such as `enable_thinking` (Qwen3) or `date_string` (Llama 3.2,
   * which else writes today's date).
   * @throws ChatTemplateError
   */
  render(
    messages: readonly ChatMessage[],
    variables?: Readonly<Record<string, unknown>>,
    addGenerationPrompt?: boolean,
  ): string;
}

const SPECIAL_TOKENS = ['bos', 'eos', 'unk', 'sep', 'pad', 'cls', 'mask'].map((name) => `${name}_token`);

/** The library renders without a bound, and writes months in the browser's language: models know those in English. */
export async function readChatTemplate(tokenizer: PreTrainedTokenizer): Promise<ChatTemplate | undefined> {
  if (tokenizer.chat_template == null) return undefined;
  const library = await importPart(() => import('./bounded-template.ts'));
  let template: BoundedTemplate | undefined;
  return {
    render(messages, variables, addGenerationPrompt = true) {
      try {
        template ??= new library.BoundedTemplate(tokenizer.get_chat_template());
        return template.render({
          tools: null,
          documents: null,
          strftime_now: (format: string) => formatDate(new Date(), format),
          ...specialTokensOf(tokenizer.config),
          ...variables,
          // A request may give the template its variables, but no other messages.
          messages,
          add_generation_prompt: addGenerationPrompt,
        });
      } catch (cause) {
        const detail = cause instanceof Error ? cause.message : String(cause);
        throw cause instanceof RangeError
          ? ChatTemplateError.endless(detail, cause)
          : ChatTemplateError.of(detail, cause);
      }
    },
  };
}

function specialTokensOf(config: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const tokens = Object.entries(config).filter(([name, token]) => SPECIAL_TOKENS.includes(name) && token);
  return Object.fromEntries(tokens);
}
