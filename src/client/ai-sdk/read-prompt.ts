import { UnsupportedFunctionalityError, type LanguageModelV4Prompt } from '@ai-sdk/provider';

import type { ChatMessage } from '../index.ts';

type Message = LanguageModelV4Prompt[number];

/** @throws UnsupportedFunctionalityError for anything but text, calls of tools and their results. */
export function readChat(prompt: LanguageModelV4Prompt): readonly ChatMessage[] {
  return prompt.flatMap((message): readonly ChatMessage[] => {
    if (message.role === 'tool') return message.content.map(readResult);
    if (message.role === 'assistant') return [readAnswer(message)];
    return [{ role: message.role, content: textOf(message) }];
  });
}

function readAnswer({ role, content }: Extract<Message, { role: 'assistant' }>): ChatMessage {
  const calls = content.filter((part) => part.type === 'tool-call');
  const reasoning = content.flatMap((part) => (part.type === 'reasoning' ? [part.text] : [])).join('');
  const text = content.filter(({ type }) => type !== 'reasoning' && type !== 'tool-call');
  return {
    role,
    content: textOf({ role, content: text }),
    ...(reasoning !== '' && { reasoning }),
    ...(calls.length > 0 && {
      toolCalls: calls.map(({ toolCallId: id, toolName: name, input }) => ({
        id,
        name,
        arguments: JSON.stringify(input),
      })),
    }),
  };
}

type ResultPart = Extract<Message, { role: 'tool' }>['content'][number];

function readResult(part: ResultPart): ChatMessage {
  if (part.type !== 'tool-result') return refusePart(part, 'tool');
  return { role: 'tool', content: outputOf(part), toolCallId: part.toolCallId };
}

/** A tool's answer as text. Errors are told like answers, so that the model can react to them. */
function outputOf({ output }: Extract<ResultPart, { type: 'tool-result' }>): string {
  switch (output.type) {
    case 'text':
    case 'error-text':
      return output.value;
    case 'json':
    case 'error-json':
      return JSON.stringify(output.value);
    case 'execution-denied':
      return output.reason ?? 'The user did not allow this call.';
    case 'content':
      return output.value
        .map((part) => (part.type === 'text' ? part.text : refusePart(part, 'tool')))
        .join('\n');
    default:
      return output satisfies never;
  }
}

/**
 * The text that a base model continues.
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
  return content.map((part) => (part.type === 'text' ? part.text : refusePart(part, role))).join('');
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
