import { shown } from '../../../src/batching/errors.ts';
import { isRecord } from '../../../src/platform/is-record.ts';
import type { ChatMessage } from '../../../src/protocol/chat.ts';
import { HttpError } from '../../http/http-error.ts';

/** OpenAI's newer models take a system message under the name `developer`. */
const ROLES: ReadonlyMap<unknown, ChatMessage['role']> = new Map([
  ['system', 'system'],
  ['developer', 'system'],
  ['user', 'user'],
  ['assistant', 'assistant'],
]);

/** Parts of a message's text are lines, as in vLLM. */
const BETWEEN_PARTS = '\n';

/** How an endpoint writes a chat's messages. */
export interface MessageForm {
  /** The field of the body that holds them. */
  readonly field: string;
  /** Types of the parts that are text. */
  readonly textTypes: readonly string[];
  /** Fields of a message, beside its role and content, that don't change the answer. */
  readonly ignored: ReadonlySet<string>;
}

const CHAT_FORM: MessageForm = { field: 'messages', textTypes: ['text'], ignored: new Set() };

/** The messages of a chat. The model's template checks the order of their roles. @throws HttpError 400 naming the part. */
export function readMessages(messages: unknown, form = CHAT_FORM): readonly ChatMessage[] {
  const { field } = form;
  if (Array.isArray(messages) && messages.length > 0)
    return messages.map((message, index) => readMessage(`${field}[${index}]`, message, form));
  throw HttpError.invalid(field, `Expected \`${field}\` to be a list of at least one message.`);
}

function readMessage(place: string, message: unknown, { textTypes, ignored }: MessageForm): ChatMessage {
  if (!isRecord(message))
    throw HttpError.expected(place, 'an object with `role` and `content`', textOf(message));
  const { role, content, ...others } = message;
  const chatRole = readRole(`${place}.role`, role);
  checkOthers(place, others, ignored);
  return { role: chatRole, content: readContent(`${place}.content`, content, textTypes) };
}

function readRole(place: string, given: unknown): ChatMessage['role'] {
  const role = ROLES.get(given);
  if (role) return role;
  if (given === 'tool' || given === 'function')
    throw HttpError.invalid(place, `\`${place}\` is \`${given}\`: tools aren't supported here.`);
  throw HttpError.expected(place, 'system, developer, user or assistant', textOf(given));
}

/** Clients send an answer back with all its fields, most of them empty. */
function checkOthers(
  place: string,
  others: Readonly<Record<string, unknown>>,
  ignored: ReadonlySet<string>,
): void {
  for (const [name, value] of Object.entries(others)) {
    const isEmpty = value === null || (Array.isArray(value) && value.length === 0);
    if (isEmpty || ignored.has(name)) continue;
    const param = `${place}.${name}`;
    const message = `\`${shown(param)}\` isn't supported here: a message has a role and content.`;
    throw HttpError.invalid(param, message);
  }
}

function readContent(place: string, content: unknown, textTypes: readonly unknown[]): string {
  if (typeof content === 'string') return content;
  if (Array.isArray(content) && content.length > 0)
    return content.map((part, index) => readPart(`${place}[${index}]`, part, textTypes)).join(BETWEEN_PARTS);
  throw HttpError.expected(place, 'a text, or a list of text parts', textOf(content));
}

function readPart(place: string, part: unknown, textTypes: readonly unknown[]): string {
  if (!isRecord(part)) throw HttpError.expected(place, 'an object with `type` and `text`', textOf(part));
  const { type, text } = part;
  if (!textTypes.includes(type))
    throw HttpError.invalid(
      place,
      `\`${place}\` is of type \`${shown(textOf(type))}\`: only text is supported here.`,
    );
  if (typeof text === 'string') return text;
  throw HttpError.expected(`${place}.text`, 'a text', textOf(text));
}

/** A value in a message. */
export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? 'nothing');
}
