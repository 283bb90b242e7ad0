import { shown } from '../../batching/base/errors.ts';
import { isRecord } from '../../platform/is-record.ts';
import type { ToolCall } from '../answers.ts';
import type { ChatMessage, TextPart } from '../chat.ts';
import { HttpError } from './http-error.ts';
import { OpenCalls } from './open-calls.ts';

/** OpenAI's newer models take a system message under the name `developer`. */
const ROLES: ReadonlyMap<unknown, ChatMessage['role']> = new Map([
  ['system', 'system'],
  ['developer', 'system'],
  ['user', 'user'],
  ['assistant', 'assistant'],
  ['tool', 'tool'],
]);

/** How an endpoint writes a chat's messages. */
export interface MessageForm {
  /** Types of the parts that are text. */
  readonly textTypes: readonly string[];
  /** Fields of a message, beside its role and content, that don't change the answer. */
  readonly ignored: ReadonlySet<string>;
}

const CHAT_FORM: MessageForm = { textTypes: ['text'], ignored: new Set() };

/** The messages of a chat. The model's template checks the order of their roles. @throws HttpError 400 naming the part. */
export function readMessages(messages: unknown): readonly ChatMessage[] {
  if (Array.isArray(messages) && messages.length > 0) {
    const read = messages.map((message, index) => readMessage(`messages[${index}]`, message));
    checkResults(read);
    return read;
  }
  throw HttpError.invalid('messages', 'Expected `messages` to be a list of at least one message.');
}

/** The results of a message's calls are the messages behind it, one for each. @throws HttpError 400 */
function checkResults(messages: readonly ChatMessage[]): void {
  const open = new OpenCalls();
  const remedy = 'a message of the role tool';
  for (const [index, { role, toolCalls = [], toolCallId }] of messages.entries()) {
    const place = `messages[${index}]`;
    if (role !== 'tool') open.checkAnswered(remedy);
    else if (toolCallId !== undefined) open.answer(`${place}.tool_call_id`, toolCallId);
    for (const [at, { id }] of toolCalls.entries()) open.add(`${place}.tool_calls[${at}].id`, id);
  }
  open.checkAnswered(remedy);
}

/** @throws HttpError 400 naming the part. */
export function readMessage(
  place: string,
  message: unknown,
  { textTypes, ignored }: MessageForm = CHAT_FORM,
): ChatMessage {
  if (!isRecord(message))
    throw HttpError.expected(place, 'an object with `role` and `content`', textOf(message));
  const { role, content, name, ...others } = message;
  const chatRole = readRole(`${place}.role`, role);
  const { fields, rest } = readOwnFields(place, chatRole, others);
  checkOthers(place, rest, ignored, 'a message has a role and content');
  return {
    role: chatRole,
    ...(fields.toolCalls && (content === null || content === undefined)
      ? content === null && { content }
      : { content: readContent(`${place}.content`, content, textTypes) }),
    ...(name !== undefined && name !== null && { name: readText(`${place}.name`, name) }),
    ...fields,
  };
}

type OwnFields = Pick<ChatMessage, 'reasoning' | 'toolCalls' | 'toolCallId'>;

/** The fields that go with one role. The worker looks for the call that a tool answers. */
function readOwnFields(
  place: string,
  role: ChatMessage['role'],
  others: Readonly<Record<string, unknown>>,
): { readonly fields: OwnFields; readonly rest: Readonly<Record<string, unknown>> } {
  if (role === 'tool') {
    const { tool_call_id: id, ...rest } = others;
    if (typeof id === 'string') return { fields: { toolCallId: id }, rest };
    throw HttpError.expected(`${place}.tool_call_id`, 'the ID of a call in a message before', textOf(id));
  }
  if (role !== 'assistant') return { fields: {}, rest: others };
  const { tool_calls: calls, reasoning_content: reasoning, ...rest } = others;
  const given = calls ?? [];
  if (!Array.isArray(given))
    throw HttpError.expected(`${place}.tool_calls`, 'a list of calls', textOf(calls));
  const toolCalls = given.map((call, index) => readCall(`${place}.tool_calls[${index}]`, call));
  const hasReasoning = reasoning !== undefined && reasoning !== null;
  return {
    fields: {
      ...(hasReasoning && { reasoning: readText(`${place}.reasoning_content`, reasoning) }),
      ...(toolCalls.length > 0 && { toolCalls }),
    },
    rest,
  };
}

/** Clients send the pieces of a stream back with their place. */
const IGNORED_OF_CALL = new Set(['index']);

function readCall(place: string, call: unknown): ToolCall {
  const { id, type, function: called, ...others } = isRecord(call) ? call : {};
  const { name, arguments: json, ...inner } = isRecord(called) ? called : {};
  if ((type ?? 'function') !== 'function')
    throw HttpError.expected(`${place}.type`, 'function', textOf(type));
  checkOthers(place, others, IGNORED_OF_CALL, 'a call has an id, a type and a function');
  checkOthers(`${place}.function`, inner, IGNORED_OF_CALL, 'a function has a name and arguments');
  if (typeof id === 'string' && typeof name === 'string' && typeof json === 'string')
    return { id, name, arguments: json };
  throw HttpError.expected(
    place,
    'an object with `id`, and a `function` with `name` and `arguments`, all texts',
    textOf(call),
  );
}

export function readText(place: string, value: unknown): string {
  if (typeof value === 'string') return value;
  throw HttpError.expected(place, 'a text', textOf(value));
}

function readRole(place: string, given: unknown): ChatMessage['role'] {
  const role = ROLES.get(given);
  if (role) return role;
  throw HttpError.expected(place, 'system, developer, user, assistant or tool', textOf(given));
}

/**
 * Clients send an answer back with all its fields, most of them empty.
 *
 * @throws HttpError 400 for a field that is not.
 */
export function checkOthers(
  place: string,
  others: Readonly<Record<string, unknown>>,
  ignored: ReadonlySet<string>,
  has: string,
): void {
  for (const [name, value] of Object.entries(others)) {
    const isEmpty = value === null || (Array.isArray(value) && value.length === 0);
    if (isEmpty || ignored.has(name)) continue;
    const param = `${place}.${name}`;
    const message = `\`${shown(param)}\` isn't supported here: ${has}.`;
    throw HttpError.invalid(param, message);
  }
}

/** @throws HttpError 400 naming the part. */
export function readContent(
  place: string,
  content: unknown,
  textTypes: readonly unknown[],
): string | readonly TextPart[] {
  if (typeof content === 'string') return content;
  if (Array.isArray(content) && content.length > 0)
    return content.map((part, index) => readPart(`${place}[${index}]`, part, textTypes));
  throw HttpError.expected(place, 'a text, or a list of text parts', textOf(content));
}

/** Fields of a part that don't change the answer: those of caches, and of the answers that clients send back. */
const IGNORED_OF_PART = new Set(['cache_control', 'annotations', 'logprobs', 'citations', 'id', 'index']);

function readPart(place: string, part: unknown, textTypes: readonly unknown[]): TextPart {
  if (!isRecord(part)) throw HttpError.expected(place, 'an object with `type` and `text`', textOf(part));
  const { type, text, ...others } = part;
  if (!textTypes.includes(type))
    throw HttpError.invalid(
      place,
      `\`${place}\` is of type \`${shown(textOf(type))}\`: only text is supported here.`,
    );
  checkOthers(place, others, IGNORED_OF_PART, 'a part has a type and text');
  return { type: 'text', text: readText(`${place}.text`, text) };
}

/** A value in a message. */
export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? 'nothing');
}
