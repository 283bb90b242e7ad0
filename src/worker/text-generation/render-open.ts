import { InvalidOptionError } from '../../batching/errors.ts';
import type { ChatMessage } from '../../protocol/chat.ts';
import type { ChatTemplate, RenderOptions } from '../models/tokenizer/chat-template.ts';

/** Marks the end of the last message. A template may trim the space. */
const END_MARK = '<TABSERVE_END_OF_FINAL_MESSAGE> ';

/**
 * Writes a chat up to the end of its last message's content, as transformers does for `continue_final_message`.
 *
 * @throws ChatTemplateError; InvalidOptionError if the template doesn't write that content as it is.
 */
export function renderOpen(
  template: ChatTemplate,
  messages: readonly ChatMessage[],
  options: RenderOptions,
): string {
  const last = messages.at(-1);
  if (!last) throw new Error('A chat has a message.');
  const marked = [...messages.slice(0, -1), { ...last, content: last.content + END_MARK }];
  const rendered = template.render(marked, { ...options, addGenerationPrompt: false });
  const at = rendered.lastIndexOf(END_MARK.trimEnd());
  if (at < 0 || !rendered.includes(last.content.trim()))
    throw InvalidOptionError.of(
      'continueFinalMessage',
      "false for this model, whose chat template changes the last message's content",
      true,
    );
  const open = rendered.slice(0, at);
  return rendered.startsWith(END_MARK, at) ? open : open.trimEnd();
}
