import { shown } from '../../../src/batching/base/errors.ts';
import { writeOrderedJson } from '../../../src/batching/base/ordered-json.ts';
import { isRecord } from '../../../src/platform/is-record.ts';
import type { ToolCall } from '../../../src/protocol/answers.ts';
import type { ChatMessage, TextPart } from '../../../src/protocol/chat.ts';
import { readContent, readText, textOf } from '../../../src/protocol/openai/chat-messages.ts';
import { HttpError } from '../../../src/protocol/openai/http-error.ts';

type Fields = Readonly<Record<string, unknown>>;

interface Block {
  readonly at: string;
  readonly block: Fields;
}

/** Messages of one role in a row. */
interface Turn {
  readonly role: 'user' | 'assistant' | 'system';
  readonly blocks: Block[];
}

/** A chat as Anthropic's API writes it. Messages of one role in a row are one. @throws HttpError 400 naming the part. */
export function readMessages(messages: unknown): readonly ChatMessage[] {
  if (!Array.isArray(messages) || messages.length === 0)
    throw HttpError.invalid('messages', 'Expected `messages` to be a list of at least one message.');
  const turns: Turn[] = [];
  for (const [index, message] of messages.entries()) {
    const turn = readTurn(`messages[${index}]`, message);
    const last = turns.at(-1);
    if (last?.role === turn.role) last.blocks.push(...turn.blocks);
    else turns.push(turn);
  }
  const read = turns.flatMap(({ role, blocks }) =>
    role === 'assistant' ? [answerOf(blocks)] : messagesOf(role, blocks),
  );
  checkResults(turns);
  return read;
}

function readTurn(place: string, message: unknown): Turn {
  if (!isRecord(message))
    throw HttpError.expected(place, 'an object with `role` and `content`', textOf(message));
  const { role, content } = message;
  checkFields(place, message, ['role', 'content']);
  if (role !== 'user' && role !== 'assistant' && role !== 'system')
    throw HttpError.expected(`${place}.role`, 'user, assistant or system', textOf(role));
  const at = `${place}.content`;
  if (typeof content === 'string')
    return { role, blocks: content === '' ? [] : [{ at, block: { type: 'text', text: content } }] };
  if (!Array.isArray(content)) throw HttpError.expected(at, 'a text, or a list of blocks', textOf(content));
  return { role, blocks: content.map((block: unknown, index) => readBlock(`${at}[${index}]`, block)) };
}

/** The fields of each kind of block. Hints for caches, citations and callers change no answer. */
const FIELDS: ReadonlyMap<unknown, readonly string[]> = new Map([
  ['text', ['text', 'cache_control', 'citations']],
  ['tool_use', ['id', 'name', 'input', 'cache_control', 'caller']],
  ['tool_result', ['tool_use_id', 'content', 'is_error', 'cache_control']],
  ['thinking', ['thinking', 'signature']],
  ['redacted_thinking', ['data']],
]);

function readBlock(at: string, block: unknown): Block {
  if (!isRecord(block)) throw HttpError.expected(at, 'an object with a `type`', textOf(block));
  const known = FIELDS.get(block['type']);
  if (known) checkFields(at, block, ['type', ...known]);
  return { at, block };
}

/** Clients send the blocks of an answer back with fields that are null. @throws HttpError 400 for others that aren't known. */
export function checkFields(place: string, fields: Fields, known: readonly string[]): void {
  const unknown = Object.keys(fields).find((name) => fields[name] !== null && !known.includes(name));
  if (unknown !== undefined) throw HttpError.unknown(`${place}.${unknown}`, known);
}

/** The results of an answer's calls are the beginning of the next message, one for each. @throws HttpError 400 */
function checkResults(turns: readonly Turn[]): void {
  const ids = new Set<unknown>();
  let open = new Map<unknown, string>();
  for (const { role, blocks } of [...turns, { role: 'user', blocks: [] }]) {
    if (role === 'user') closeCalls(open, blocks);
    for (const [id, at] of open)
      throw HttpError.invalid(
        at,
        `\`${at}\` has no result: begin the next message with a tool_result for \`${shown(id)}\`.`,
      );
    const calls = blocks.filter(({ block }) => block['type'] === 'tool_use');
    for (const { at, block } of calls) {
      if (ids.has(block['id'])) throw HttpError.expected(`${at}.id`, 'an ID of its own', textOf(block['id']));
      ids.add(block['id']);
    }
    open = new Map(calls.map(({ at, block }) => [block['id'], at]));
  }
}

/** Removes the calls that have a result here. */
function closeCalls(open: Map<unknown, string>, blocks: readonly Block[]): void {
  let hasText = false;
  for (const { at, block } of blocks) {
    if (block['type'] !== 'tool_result') {
      hasText = true;
      continue;
    }
    const { tool_use_id: id } = block;
    if (hasText)
      throw HttpError.invalid(at, `\`${at}\` stands behind a text: put the results of tools first.`);
    if (!open.delete(id)) {
      const expected = 'the ID of a tool_use in the message before that has no other result';
      throw HttpError.expected(`${at}.tool_use_id`, expected, textOf(id));
    }
  }
}

function answerOf(blocks: readonly Block[]): ChatMessage {
  const parts: TextPart[] = [];
  const toolCalls: ToolCall[] = [];
  let reasoning = '';
  for (const { at, block } of blocks) {
    if (block['type'] === 'thinking') reasoning += readText(`${at}.thinking`, block['thinking']);
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
    if (role === 'user' && block['type'] === 'tool_result') results.push(resultOf(at, block));
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
  return { type, text: readText(`${at}.text`, text) };
}

function callOf(at: string, { id, name, input = {} }: Fields): ToolCall {
  if (typeof id === 'string' && typeof name === 'string' && isRecord(input))
    return { id, name, arguments: writeOrderedJson(input) ?? '' };
  throw HttpError.expected(at, 'an object with `id`, `name` and `input`');
}

function resultOf(
  at: string,
  { tool_use_id: id, content = '', is_error: isError = false }: Fields,
): ChatMessage {
  if (typeof isError !== 'boolean')
    throw HttpError.expected(`${at}.is_error`, 'true or false', textOf(isError));
  const isEmpty = Array.isArray(content) && content.length === 0;
  const read = isEmpty ? '' : readContent(`${at}.content`, content, ['text']);
  return {
    role: 'tool',
    content: isError ? asError(read) : read,
    toolCallId: readText(`${at}.tool_use_id`, id),
  };
}

/** Templates have no place for it but the text. */
function asError(content: string | readonly TextPart[]): string | readonly TextPart[] {
  if (typeof content === 'string') return `Error: ${content}`;
  return content.map((part, index) => (index === 0 ? { ...part, text: `Error: ${part.text}` } : part));
}
