import { shown } from '../../../src/batching/base/errors.ts';
import { isRecord } from '../../../src/platform/is-record.ts';
import type { ToolCall } from '../../../src/protocol/answers.ts';
import { textOfContent, type ChatMessage } from '../../../src/protocol/chat.ts';
import {
  checkOthers,
  readContent,
  readMessage,
  textOf,
  type MessageForm,
} from '../../../src/protocol/openai/chat-messages.ts';
import { HttpError } from '../../../src/protocol/openai/http-error.ts';
import { OpenCalls } from '../../../src/protocol/openai/open-calls.ts';

export const STORES_NOTHING = 'nothing is stored here, so send the items before in `input`';

/** Clients send the message of an answer back as it came. */
const INPUT_FORM: MessageForm = {
  textTypes: ['input_text', 'output_text'],
  ignored: new Set(['type', 'id', 'status', 'phase']),
};

/** The messages of a chat, and where their parts stand in the body. */
class Chat {
  readonly messages: ChatMessage[] = [];
  readonly names: [ours: string, theirs: string][] = [];
  readonly #calls = new OpenCalls();
  /** What the next answer begins with. */
  #reasoning: string[] = [];

  constructor(instructions: string | undefined) {
    if (instructions !== undefined) this.messages.push({ role: 'system', content: instructions });
  }

  /** The thinking of an answer is an item before its message or its calls. */
  addReasoning(text: string): void {
    if (text !== '') this.#reasoning.push(text);
  }

  addMessage(message: ChatMessage): void {
    if (message.role !== 'assistant') this.#endReasoning();
    this.messages.push({ ...message, ...this.#takeReasoning(message.reasoning) });
  }

  /** The calls of an answer are items behind its message. */
  addCall(place: string, call: ToolCall): void {
    this.#calls.add(`${place}.call_id`, call.id);
    const last = this.messages.at(-1);
    const toolCalls = [...(last?.toolCalls ?? []), call];
    const reasoning = this.#takeReasoning(last?.reasoning);
    if (last?.role === 'assistant') this.messages.splice(-1, 1, { ...last, toolCalls, ...reasoning });
    else this.messages.push({ role: 'assistant', toolCalls, ...reasoning });
    const part = `prompt[${this.messages.length - 1}].toolCalls[${toolCalls.length - 1}].arguments`;
    this.names.push([part, `${place}.arguments`]);
  }

  addOutput(place: string, id: string, content: NonNullable<ChatMessage['content']>): void {
    this.#calls.answer(`${place}.call_id`, id);
    this.addMessage({ role: 'tool', content, toolCallId: id });
  }

  /** @throws HttpError 400 for a call without an output. */
  end(): this {
    this.#endReasoning();
    this.#calls.checkAnswered('an item function_call_output');
    return this;
  }

  /** Thinking that was cut before its answer. */
  #endReasoning(): void {
    if (this.#reasoning.length > 0)
      this.messages.push({ role: 'assistant', content: '', ...this.#takeReasoning() });
  }

  #takeReasoning(before?: string): Pick<ChatMessage, 'reasoning'> {
    const parts = [...(before === undefined ? [] : [before]), ...this.#reasoning.splice(0)];
    return parts.length === 0 ? {} : { reasoning: parts.join('\n') };
  }
}

/** The chat of `instructions` and `input`. @throws HttpError 400 naming the part. */
export function readInput(
  instructions: string | undefined,
  input: unknown,
): Pick<Chat, 'messages' | 'names'> {
  if (typeof input !== 'string' && !Array.isArray(input))
    throw HttpError.expected('input', 'a text, or a list of messages');
  if (input.length === 0 && typeof input !== 'string')
    throw HttpError.invalid('input', 'Expected `input` to be a list of at least one message.');
  const items = typeof input === 'string' ? [{ role: 'user', content: input }] : input;
  const chat = new Chat(instructions);
  for (const [index, item] of items.entries()) addItem(chat, `input[${index}]`, item);
  return chat.end();
}

function addItem(chat: Chat, place: string, item: unknown): void {
  const type = isRecord(item) ? (item['type'] ?? 'message') : 'message';
  if (type === 'message') chat.addMessage(readMessage(place, item, INPUT_FORM));
  else if (type === 'function_call' && isRecord(item)) chat.addCall(place, readCall(place, item));
  else if (type === 'function_call_output' && isRecord(item)) addOutput(chat, place, item);
  else if (type === 'reasoning' && isRecord(item)) chat.addReasoning(readReasoning(place, item));
  else {
    const reason =
      type === 'item_reference'
        ? STORES_NOTHING
        : 'only messages, reasoning, calls of functions and their outputs are supported here';
    throw HttpError.invalid(`${place}.type`, `\`${place}.type\` is \`${shown(textOf(type))}\`: ${reason}.`);
  }
}

function readCall(place: string, item: Readonly<Record<string, unknown>>): ToolCall {
  const { call_id: id, name, arguments: json, ...others } = item;
  checkOthers(place, others, INPUT_FORM.ignored, 'a call has a call_id, a name and arguments');
  if (typeof id === 'string' && typeof name === 'string' && typeof json === 'string')
    return { id, name, arguments: json };
  throw HttpError.expected(
    place,
    'an object with `call_id`, `name` and `arguments`, all texts',
    textOf(item),
  );
}

function addOutput(chat: Chat, place: string, item: Readonly<Record<string, unknown>>): void {
  const { call_id: id, output, ...others } = item;
  checkOthers(place, others, INPUT_FORM.ignored, 'an output has a call_id and an output');
  if (typeof id !== 'string')
    throw HttpError.expected(`${place}.call_id`, 'the ID of a call before', textOf(id));
  chat.addOutput(place, id, readContent(`${place}.output`, output, INPUT_FORM.textTypes));
}

/** The thinking itself, or where an API hides it, its summary. */
function readReasoning(place: string, item: Readonly<Record<string, unknown>>): string {
  const { summary, content, ...others } = item;
  checkOthers(place, others, INPUT_FORM.ignored, 'thinking has a summary and content');
  const [thoughts, inShort] = [
    readTexts(`${place}.content`, content, 'reasoning_text'),
    readTexts(`${place}.summary`, summary, 'summary_text'),
  ];
  return thoughts === '' ? inShort : thoughts;
}

function readTexts(place: string, parts: unknown, type: string): string {
  const given = parts ?? [];
  if (!Array.isArray(given)) throw HttpError.expected(place, 'a list of texts', textOf(parts));
  if (given.length === 0) return '';
  const content = readContent(place, given, [type]);
  return textOfContent(content);
}
