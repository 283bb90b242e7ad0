import { textOfContent, type ChatMessage, type TextPart } from '../../../protocol/chat.ts';

type Render = (messages: readonly ChatMessage[]) => string;
type Role = ChatMessage['role'];

const ASKED: ChatMessage = { role: 'user', content: 'x' };
/** Chats whose message of this role is taken by every template that takes the role at all. */
const AROUND: Readonly<Record<Role, (message: ChatMessage) => readonly ChatMessage[]>> = {
  system: (message) => [message, ASKED],
  user: (message) => [message],
  assistant: (message) => [ASKED, message, ASKED],
  tool: (message) => [
    ASKED,
    { role: 'assistant', content: '', toolCalls: [{ id: 'abcdefghi', name: 'x', arguments: '{}' }] },
    { ...message, toolCallId: 'abcdefghi' },
  ],
};

/**
 * Parts of a message reach the template where it reads them, as in transformers. Many templates only read texts, and would write the
 * list as Python prints it: they get the parts as lines, as in vLLM.
 */
export function withTakenParts(messages: readonly ChatMessage[], render: Render): readonly ChatMessage[] {
  const roles = new Set(messages.flatMap(({ role, content }) => (Array.isArray(content) ? [role] : [])));
  const taken = new Set([...roles].filter((role) => takesParts(role, render)));
  return messages.map((message) =>
    Array.isArray(message.content) && !taken.has(message.role)
      ? { ...message, content: textOfContent(message.content) }
      : message,
  );
}

/** Words that no template has. */
const WORDS = ['TABSERVEFIRST', 'TABSERVELAST'];
const PARTS = WORDS.map((text): TextPart => ({ type: 'text', text }));
/** A word in Python's or JSON's spelling of its part. */
const QUOTED = /['"]TABSERVE/;

/** Some templates read the first part alone. */
function takesParts(role: Role, render: Render): boolean {
  try {
    const written = render(AROUND[role]({ role, content: PARTS }));
    return WORDS.every((word) => written.includes(word)) && !QUOTED.test(written);
  } catch {
    return false;
  }
}
