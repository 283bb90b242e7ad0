import * as v from 'valibot';

import { shown } from '../../../src/batching/base/errors.ts';
import { isRecord } from '../../../src/platform/is-record.ts';
import type { ToolCall } from '../../../src/protocol/answers.ts';
import type { ChatMessage } from '../../../src/protocol/chat.ts';
import { HttpError } from '../../../src/protocol/openai/http-error.ts';
import { readFields } from '../../../src/protocol/openai/fields.ts';
import {
  checkOthers,
  readContent,
  readMessage,
  textOf,
  type MessageForm,
} from '../../../src/protocol/openai/chat-messages.ts';
import {
  CHAT_NEUTRAL_VALUES,
  chatNamesWith,
  checkContinuation,
  EFFORTS,
  VERBOSITIES,
  withEffort,
} from '../../../src/protocol/openai/chat-options.ts';
import {
  parseFields,
  readKnownFields,
  readNeutralObject,
  readOptions,
  readSharedFields,
  type GenerationRequest,
  type NeutralValues,
} from '../../../src/protocol/openai/generation-request.ts';
import { readOpenAiFormat } from '../../../src/protocol/openai/response-format.ts';
import { readTools, TOOL_FIELDS, TOOL_NAMES } from '../../../src/protocol/openai/tools.ts';

/** A request to `POST /v1/responses`. */
export interface ResponseRequest extends GenerationRequest {
  /** The fields of the answer that repeat those of the request. */
  readonly echoed: object;
}

const STORES_NOTHING = 'nothing is stored here, so send the items before in `input`';

/** Fields that no value makes acceptable, each with the way out. */
const REFUSED: ReadonlyMap<string, string> = new Map([
  ['previous_response_id', STORES_NOTHING],
  ['conversation', STORES_NOTHING],
  ['prompt', 'no templates are stored here, so send their text in `instructions` and `input`'],
]);

const NEUTRAL_VALUES: NeutralValues = {
  ...CHAT_NEUTRAL_VALUES,
  background: [false],
  truncation: ['disabled'],
  n: [1],
};

/** A summary of no reasoning is empty. */
const SUMMARIES = ['auto', 'concise', 'detailed'];
const NEUTRAL_REASONING: NeutralValues = {
  effort: EFFORTS,
  summary: SUMMARIES,
  generate_summary: SUMMARIES,
};
const NEUTRAL_FORMAT = { type: 'text' };

const LOGPROBS = 'message.output_text.logprobs';

/** Fields that the bridge reads itself. All but the first two don't change the answer. */
const OWN_FIELDS = v.object({
  instructions: v.optional(v.string()),
  include: v.optional(v.array(v.picklist([LOGPROBS, 'reasoning.encrypted_content']))),
  max_tool_calls: v.optional(v.number()),
  prompt_cache_key: v.optional(v.string()),
  safety_identifier: v.optional(v.string()),
});

const NAMES = new Map([...chatNamesWith('max_output_tokens')].filter(([name]) => name !== 'n'));

/** With what the answer says where they are left out. */
const ECHOED: readonly (readonly [name: string, missing: unknown])[] = [
  ['instructions', null],
  ['max_output_tokens', null],
  ['max_tool_calls', null],
  ['metadata', {}],
  ['parallel_tool_calls', true],
  ['prompt_cache_key', null],
  ['safety_identifier', null],
  ['temperature', null],
  ['tool_choice', 'auto'],
  ['tools', []],
  ['top_logprobs', 0],
  ['top_p', null],
  ['user', null],
];

/** Clients send the message of an answer back as it came. */
const INPUT_FORM: MessageForm = {
  field: 'input',
  textTypes: ['input_text', 'output_text'],
  ignored: new Set(['type', 'id', 'status', 'phase']),
};

/** @throws HttpError 400 */
export function readResponseRequest(body: unknown): ResponseRequest {
  checkRefused(readFields(body));
  const fields = readKnownFields(body, {
    names: NAMES,
    neutral: NEUTRAL_VALUES,
    others: [
      'input',
      'text',
      'reasoning',
      'add_generation_prompt',
      ...TOOL_FIELDS,
      ...Object.keys(OWN_FIELDS.entries),
    ],
    parts: ['text.format', 'reasoning.effort'],
  });
  checkContinuation(fields);
  const { instructions, include = [] } = parseFields(OWN_FIELDS, fields);
  const format = isRecord(fields['text']) ? (fields['text']['format'] ?? NEUTRAL_FORMAT) : NEUTRAL_FORMAT;
  const text = readNeutralObject(fields, 'text', { format: [format], verbosity: VERBOSITIES });
  const responseFormat = readOpenAiFormat('text.format', format);
  const reasoning = readNeutralObject(fields, 'reasoning', NEUTRAL_REASONING);
  const { logprobs: numLogprobs = 0, ...others } = readOptions(fields, NAMES);
  if (numLogprobs !== 0 && !include.includes(LOGPROBS))
    throw HttpError.invalid('top_logprobs', `\`top_logprobs\` goes with \`include: ["${LOGPROBS}"]\` alone.`);
  const options = {
    ...others,
    n: 1,
    ...(include.includes(LOGPROBS) && { logprobs: numLogprobs }),
    ...(responseFormat && { responseFormat }),
    ...readTools(fields, true),
  };
  const chat = new Chat(instructions);
  readInput(chat, fields['input']);
  return {
    ...readSharedFields(fields),
    prompts: [chat.messages],
    options: withEffort(options, reasoning['effort']),
    hasPromptLogprobs: false,
    names: new Map([...NAMES, ...TOOL_NAMES, ['responseFormat', 'text.format'], ...chat.names]),
    echoed: {
      ...Object.fromEntries(ECHOED.map(([name, missing]) => [name, fields[name] ?? missing])),
      text: { format, ...text },
      reasoning: { effort: null, summary: null, ...reasoning },
    },
  };
}

/** @throws HttpError 400 */
function checkRefused(fields: Readonly<Record<string, unknown>>): void {
  for (const [name, wayOut] of REFUSED)
    if (fields[name] !== undefined && fields[name] !== null)
      throw HttpError.invalid(name, `\`${name}\` isn't supported: ${wayOut}.`);
}

/** The messages of a chat, and where their parts stand in the body. */
class Chat {
  readonly messages: ChatMessage[] = [];
  readonly names: [ours: string, theirs: string][] = [];

  constructor(instructions: string | undefined) {
    if (instructions !== undefined) this.messages.push({ role: 'system', content: instructions });
  }

  /** The calls of an answer are items behind its message. */
  addCall(place: string, call: ToolCall): void {
    const last = this.messages.at(-1);
    const toolCalls = [...(last?.toolCalls ?? []), call];
    if (last?.role === 'assistant') this.messages.splice(-1, 1, { ...last, toolCalls });
    else this.messages.push({ role: 'assistant', toolCalls });
    this.#name(`toolCalls[${toolCalls.length - 1}].arguments`, `${place}.arguments`);
  }

  addOutput(place: string, message: ChatMessage): void {
    this.messages.push(message);
    this.#name('toolCallId', `${place}.call_id`);
  }

  #name(part: string, place: string): void {
    this.names.push([`prompt[${this.messages.length - 1}].${part}`, place]);
  }
}

/** @throws HttpError 400 naming the part. */
function readInput(chat: Chat, input: unknown): void {
  if (typeof input !== 'string' && !Array.isArray(input))
    throw HttpError.expected('input', 'a text, or a list of messages');
  if (input.length === 0 && typeof input !== 'string')
    throw HttpError.invalid('input', 'Expected `input` to be a list of at least one message.');
  const items = typeof input === 'string' ? [{ role: 'user', content: input }] : input;
  for (const [index, item] of items.entries()) addItem(chat, `input[${index}]`, item);
}

function addItem(chat: Chat, place: string, item: unknown): void {
  const type = isRecord(item) ? (item['type'] ?? 'message') : 'message';
  if (type === 'message') chat.messages.push(readMessage(place, item, INPUT_FORM));
  else if (type === 'function_call' && isRecord(item)) chat.addCall(place, readCall(place, item));
  else if (type === 'function_call_output' && isRecord(item)) chat.addOutput(place, readOutput(place, item));
  else if (type !== 'reasoning') {
    const reason =
      type === 'item_reference'
        ? STORES_NOTHING
        : 'only messages, calls of functions and their outputs are supported here';
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

function readOutput(place: string, item: Readonly<Record<string, unknown>>): ChatMessage {
  const { call_id: id, output, ...others } = item;
  checkOthers(place, others, INPUT_FORM.ignored, 'an output has a call_id and an output');
  if (typeof id !== 'string')
    throw HttpError.expected(`${place}.call_id`, 'the ID of a call before', textOf(id));
  return {
    role: 'tool',
    content: readContent(`${place}.output`, output, INPUT_FORM.textTypes),
    toolCallId: id,
  };
}
