import { isRecord } from '../../../src/platform/is-record.ts';
import type { ToolCall } from '../../../src/protocol/answers.ts';
import type { ChatMessage, TextPart } from '../../../src/protocol/chat.ts';
import { readContent, textOf } from '../../../src/protocol/openai/chat-messages.ts';
import { HttpError } from '../../../src/protocol/openai/http-error.ts';

type Fields = Readonly<Record<string, unknown>>;

/** A chat as Anthropic's API writes it. Messages of one role in a row are one. @throws HttpError 400 naming the part. */
export function readMessages(messages: unknown): readonly ChatMessage[] {
  if (!Array.isArray(messages) || messages.length === 0)
    throw HttpError.invalid('messages', 'Expected `messages` to be a list of at least one message.');
  const read = messages.flatMap((message: unknown, index) => readMessage(`messages[${index}]`, message));
  const joined: ChatMessage[] = [];
  for (const message of read) {
    const last = joined.at(-1);
    if (last && last.role === message.role && last.role !== 'tool') joined.splice(-1, 1, join(last, message));
    else joined.push(message);
  }
  return joined;
}

/** A block without the hints that change no answer. */
export function withoutHints(block: unknown): unknown {
  if (!isRecord(block)) return block;
  const { cache_control: _hint, citations: _none, ...rest } = block;
  return rest;
}

function readMessage(place: string, message: unknown): readonly ChatMessage[] {
  if (!isRecord(message))
    throw HttpError.expected(place, 'an object with `role` and `content`', textOf(message));
  const { role, content } = message;
  if (role !== 'user' && role !== 'assistant' && role !== 'system')
    throw HttpError.expected(`${place}.role`, 'user, assistant or system', textOf(role));
  if (typeof content === 'string') return [{ role, content }];
  if (!Array.isArray(content))
    throw HttpError.expected(`${place}.content`, 'a text, or a list of blocks', textOf(content));
  const blocks = content.map((block: unknown, index) => {
    const at = `${place}.content[${index}]`;
    if (isRecord(block)) return { at, block };
    throw HttpError.expected(at, 'an object with a `type`', textOf(block));
  });
  return role === 'assistant' ? [answerOf(blocks)] : messagesOf(role, blocks);
}

interface Block {
  readonly at: string;
  readonly block: Fields;
}

function answerOf(blocks: readonly Block[]): ChatMessage {
  const parts: TextPart[] = [];
  const toolCalls: ToolCall[] = [];
  let reasoning = '';
  for (const { at, block } of blocks) {
    if (block['type'] === 'thinking' && typeof block['thinking'] === 'string') reasoning += block['thinking'];
    else if (block['type'] === 'tool_use') toolCalls.push(callOf(at, block));
    // Only Anthropic's models can read it.
    else if (block['type'] !== 'redacted_thinking') parts.push(partOf(at, block));
  }
  return {
    role: 'assistant',
    ...(parts.length > 0 || toolCalls.length === 0 ? { content: contentOf(parts) } : {}),
    ...(reasoning !== '' && { reasoning }),
    ...(toolCalls.length > 0 && { toolCalls }),
  };
}

/** The results of tools are messages of their own, in front of the text beside them. */
function messagesOf(role: 'user' | 'system', blocks: readonly Block[]): readonly ChatMessage[] {
  const parts: TextPart[] = [];
  const results: ChatMessage[] = [];
  for (const { at, block } of blocks) {
    if (block['type'] === 'tool_result') results.push(resultOf(at, block));
    else parts.push(partOf(at, block));
  }
  return parts.length > 0 || results.length === 0
    ? [...results, { role, content: contentOf(parts) }]
    : results;
}

function contentOf(parts: readonly TextPart[]): string | readonly TextPart[] {
  const [first, second] = parts;
  return second ? parts : (first?.text ?? '');
}

function partOf(at: string, block: Fields): TextPart {
  const { type, text } = block;
  if (type !== 'text')
    throw HttpError.invalid(
      at,
      `\`${at}\` is of type \`${textOf(type)}\`: only text and tools are supported here.`,
    );
  if (typeof text !== 'string') throw HttpError.expected(`${at}.text`, 'a text', textOf(text));
  return { type, text };
}

function callOf(at: string, { id, name, input = {} }: Fields): ToolCall {
  if (typeof id === 'string' && typeof name === 'string' && isRecord(input))
    return { id, name, arguments: JSON.stringify(input) };
  throw HttpError.expected(at, 'an object with `id`, `name` and `input`');
}

function resultOf(at: string, { tool_use_id: id, content = '' }: Fields): ChatMessage {
  if (typeof id !== 'string')
    throw HttpError.expected(`${at}.tool_use_id`, 'the ID of a call before', textOf(id));
  const blocks = Array.isArray(content) ? content.map(withoutHints) : content;
  const isEmpty = Array.isArray(blocks) && blocks.length === 0;
  return {
    role: 'tool',
    content: isEmpty ? '' : readContent(`${at}.content`, blocks, ['text']),
    toolCallId: id,
  };
}

function join(first: ChatMessage, second: ChatMessage): ChatMessage {
  const parts = [first, second].flatMap(({ content }): readonly TextPart[] =>
    typeof content === 'string' ? (content === '' ? [] : [{ type: 'text', text: content }]) : (content ?? []),
  );
  const toolCalls = [...(first.toolCalls ?? []), ...(second.toolCalls ?? [])];
  const reasoning = (first.reasoning ?? '') + (second.reasoning ?? '');
  return {
    role: first.role,
    ...((parts.length > 0 || toolCalls.length === 0) && { content: contentOf(parts) }),
    ...(reasoning !== '' && { reasoning }),
    ...(toolCalls.length > 0 && { toolCalls }),
  };
}
