import { InvalidOptionError } from '../batching/base/errors.ts';
import { isWholeText, oneOf, validator } from '../batching/base/validate.ts';
import { isRecord } from '../platform/is-record.ts';
import { toolCall, type ToolCall } from './answers.ts';
import { chatMessage, textOfContent, type ChatMessage } from './chat.ts';
import { parse } from './wire.ts';

const readRole = oneOf(...chatMessage.entries.role.options);
const readContent = validator('a text or a list of text parts', (value, refuse) => {
  const content = parse(chatMessage.entries.content.wrapped, value) ?? undefined;
  if (content === undefined) throw refuse(value);
  if (!textOfContent(content).isWellFormed()) throw refuse('half a character');
  return content;
});

/** The role that a field belongs to. */
const ROLE_OF_FIELD: ReadonlyMap<string, ChatMessage['role']> = new Map([
  ['reasoning', 'assistant'],
  ['toolCalls', 'assistant'],
  ['toolCallId', 'tool'],
]);

const NO_ARGUMENTS = /^\s*(?:null\s*)?$/;

/** @throws InvalidOptionError naming the place, such as `prompt[1].role`. */
export function readMessages(prompt: readonly unknown[]): readonly ChatMessage[] {
  const messages = prompt.map((message, index) => readMessage(message, `prompt[${index}]`));
  const called = new Set<string>();
  for (const [index, { toolCalls = [], toolCallId }] of messages.entries()) {
    if (toolCallId !== undefined && !called.has(toolCallId))
      throw InvalidOptionError.of(
        `prompt[${index}].toolCallId`,
        'the ID of a call in a message before',
        toolCallId,
      );
    for (const { id } of toolCalls) called.add(id);
  }
  return messages;
}

/** Whether the messages have calls of tools, or their answers. */
export function haveCalls(messages: readonly ChatMessage[]): boolean {
  return messages.some(({ role, toolCalls }) => role === 'tool' || toolCalls);
}

function readMessage(message: unknown, place: string): ChatMessage {
  if (!isRecord(message)) throw InvalidOptionError.of(place, 'a message with a role and content', message);
  const { role: givenRole, content, name: author, ...others } = message;
  const role = readRole(`${place}.role`, givenRole);
  const given = Object.entries(others).filter(([, value]) => value !== undefined);
  const [name, value] = given.find(([field]) => ROLE_OF_FIELD.get(field) !== role) ?? [];
  if (name !== undefined)
    throw InvalidOptionError.of(`${place}.${name}`, `left out of a message with the role ${role}`, value);
  const { reasoning, toolCalls } = others;
  return {
    role,
    ...contentOf(content, toolCalls !== undefined, place),
    ...(author !== undefined && { name: isWholeText(`${place}.name`, author) }),
    ...(reasoning !== undefined && { reasoning: isWholeText(`${place}.reasoning`, reasoning) }),
    ...(toolCalls !== undefined && { toolCalls: readCalls(`${place}.toolCalls`, toolCalls) }),
    ...(role === 'tool' && { toolCallId: isWholeText(`${place}.toolCallId`, others['toolCallId']) }),
  };
}

/** An answer that has calls may have no text. Null counts as the empty text, as in vLLM: many templates would write `None`. */
function contentOf(content: unknown, hasCalls: boolean, place: string): Pick<ChatMessage, 'content'> {
  if (hasCalls && content === undefined) return {};
  if (hasCalls && content === null) return { content: '' };
  return { content: readContent(`${place}.content`, content) };
}

function readCalls(place: string, calls: unknown): readonly ToolCall[] {
  if (!Array.isArray(calls)) throw InvalidOptionError.of(place, 'a list of calls', calls);
  return calls.map((given: unknown, index) => {
    const call = parse(toolCall, given);
    if (!call)
      throw InvalidOptionError.of(`${place}[${index}]`, '`{ id, name, arguments }`, three strings', given);
    // Clients write the arguments of a call without any in many ways.
    if (NO_ARGUMENTS.test(call.arguments)) return { ...call, arguments: '{}' };
    if (isJsonObject(call.arguments)) return call;
    throw InvalidOptionError.of(`${place}[${index}].arguments`, 'a JSON object', call.arguments);
  });
}

function isJsonObject(json: string): boolean {
  try {
    return isRecord(JSON.parse(json));
  } catch {
    return false;
  }
}
