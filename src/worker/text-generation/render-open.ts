import { InvalidOptionError } from '../../batching/base/errors.ts';
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
  const content = withMark(last.content);
  if (content === undefined || content === null)
    throw InvalidOptionError.of('continueFinalMessage', 'false where the last message has no text', true);
  const marked = [...messages.slice(0, -1), { ...last, content }];
  const rendered = template.render(marked, { ...options, addGenerationPrompt: false });
  const at = rendered.lastIndexOf(END_MARK.trimEnd());
  if (at < 0 || !rendered.includes(lastTextOf(last.content).trim()))
    throw InvalidOptionError.of(
      'continueFinalMessage',
      "false for this model, whose chat template changes the last message's content",
      true,
    );
  const open = rendered.slice(0, at);
  return rendered.startsWith(END_MARK, at) ? open : open.trimEnd();
}

/** transformers continues the last part of a text. */
function withMark(content: ChatMessage['content']): ChatMessage['content'] {
  if (typeof content === 'string') return content + END_MARK;
  return content?.with(-1, { type: 'text', text: lastTextOf(content) + END_MARK });
}

function lastTextOf(content: ChatMessage['content']): string {
  return typeof content === 'string' ? content : (content?.at(-1)?.text ?? '');
}
