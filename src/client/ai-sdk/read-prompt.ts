import { UnsupportedFunctionalityError, type LanguageModelV4Prompt } from '@ai-sdk/provider';

import type { ChatMessage } from '../index.ts';

type Message = LanguageModelV4Prompt[number];

/** @throws UnsupportedFunctionalityError for anything but text. */
export function readChat(prompt: LanguageModelV4Prompt): readonly ChatMessage[] {
  return prompt.map((message) => {
    if (message.role === 'tool') throw unsupported('tool results', message.role);
    return { role: message.role, content: textOf(message) };
  });
}

/**
 * The text that a base model should continue.
 *
 * @throws UnsupportedFunctionalityError for anything but one user message of text.
 */
export function readText(prompt: LanguageModelV4Prompt): string {
  const [message, second] = prompt;
  if (message?.role === 'user' && !second) return textOf(message);
  throw new UnsupportedFunctionalityError({
    functionality: 'chats in a completion model',
    message:
      'A completion model takes one prompt without a system message: use `tabserve(modelId)` for a chat.',
  });
}

function textOf({ role, content }: Exclude<Message, { role: 'tool' }>): string {
  if (typeof content === 'string') return content;
  // A model's reasoning in earlier turns is not part of its answers.
  const parts = content.filter(({ type }) => type !== 'reasoning');
  return parts.map((part) => (part.type === 'text' ? part.text : refusePart(part, role))).join('');
}

function refusePart(
  part: { readonly type: string; readonly mediaType?: string },
  role: Message['role'],
): never {
  throw unsupported(part.mediaType === undefined ? `${part.type} parts` : `${part.mediaType} files`, role);
}

function unsupported(what: string, role: Message['role']): UnsupportedFunctionalityError {
  return new UnsupportedFunctionalityError({
    functionality: `${what} in ${role} messages`,
    message: `Tabserve's models read text only: leave out the ${what} in ${role} messages.`,
  });
}
