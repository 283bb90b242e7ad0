import { writeOrderedJson } from '../../../src/batching/base/ordered-json.ts';
import { keysOf } from '../../../src/batching/base/records.ts';
import type { ChatMessage } from '../../../src/protocol/chat.ts';
import type { GenerationOptions } from '../../../src/protocol/generation.ts';
import { isRecord } from '../../../src/platform/is-record.ts';
import { readMessage, textOf } from '../../../src/protocol/openai/chat-messages.ts';
import {
  EFFORTS,
  NESTED_TOOL_NAMES,
  readTools,
  withEffort,
} from '../../../src/protocol/openai/chat-options.ts';
import { readFields, withoutNulls } from '../../../src/protocol/openai/fields.ts';
import {
  checkNeutral,
  readOptions,
  type GenerationRequest,
  type NeutralValues,
  type OptionNames,
} from '../../../src/protocol/openai/generation-request.ts';
import { HttpError } from '../../../src/protocol/openai/http-error.ts';

type Fields = Readonly<Record<string, unknown>>;

/** A request to `POST /api/chat` or `POST /api/generate`. */
export interface OllamaRequest extends GenerationRequest {
  /** Asks only that the model is there, or may go, which changes nothing here. */
  readonly isFor?: 'load' | 'unload';
  /** Whether it asks for a model that thinks. */
  readonly thinks: boolean;
  /** The prompt for a model without a chat template. */
  readonly plainPrompt?: string;
  /** Whether the answer may fill the context, as a chat's does by itself. */
  readonly fillsContext: boolean;
}

const OPTIONS: OptionNames = new Map([
  ['maxNewTokens', 'num_predict'],
  ['temperature', 'temperature'],
  ['topK', 'top_k'],
  ['topP', 'top_p'],
  ['minP', 'min_p'],
  ['seed', 'seed'],
  ['stop', 'stop'],
  ['repetitionPenalty', 'repeat_penalty'],
  ['presencePenalty', 'presence_penalty'],
  ['frequencyPenalty', 'frequency_penalty'],
]);

/** Each option of Ollama's, by its type. Those that aren't among ours say how a model is run, which is the operator's choice here. */
const TYPES = {
  'an integer':
    'num_predict top_k seed repeat_last_n mirostat num_ctx num_batch num_gpu main_gpu num_thread num_keep draft_num_predict',
  'a number':
    'temperature top_p min_p typical_p tfs_z repeat_penalty presence_penalty frequency_penalty mirostat_tau mirostat_eta',
  'true or false': 'numa low_vram f16_kv use_mmap use_mlock vocab_only',
  'a text, or a list of texts': 'stop',
} as const;
const TYPE_OF_OPTION = new Map(
  keysOf(TYPES).flatMap((type) => TYPES[type].split(' ').map((name) => [name, type] as const)),
);

const HOLDS: Readonly<Record<keyof typeof TYPES, (value: unknown) => boolean>> = {
  'an integer': Number.isInteger,
  'a number': (value) => typeof value === 'number',
  'true or false': (value) => typeof value === 'boolean',
  'a text, or a list of texts': (value) => [value].flat().every((text) => typeof text === 'string'),
};

const NEUTRAL_OPTIONS: NeutralValues = { typical_p: [1], tfs_z: [1], mirostat: [0], repeat_last_n: [-1] };

const NEUTRAL_FIELDS: NeutralValues = { images: [[]], suffix: [''], template: [''], context: [[]] };

const SHARED = ['model', 'stream', 'format', 'options', 'keep_alive', 'think', 'truncate', 'shift'];

const NAMES = new Map<string, string>([
  ...Array.from(OPTIONS, ([ours, theirs]) => [ours, `options.${theirs}`] as const),
  ['tools', 'tools'],
  ...NESTED_TOOL_NAMES,
  ['responseFormat', 'format'],
  ['responseFormat.schema', 'format'],
]);

const PARTS = [...OPTIONS.values()].map((name) => `options.${name}`);

/** @throws HttpError 400 */
export function readOllamaChat(body: unknown): OllamaRequest {
  const fields = readFields(withoutNulls(readFields(body)), [...SHARED, 'messages', 'tools'], PARTS);
  const { messages = [] } = fields;
  if (!Array.isArray(messages)) throw HttpError.expected('messages', 'a list of messages', textOf(messages));
  const read: ChatMessage[] = [];
  for (const [index, message] of messages.entries()) read.push(readOllamaMessage(index, message, read));
  return requestOf(fields, read, readTools(fields, false));
}

/** @throws HttpError 400 */
export function readOllamaGenerate(body: unknown): OllamaRequest {
  const own = ['prompt', 'system', 'raw', ...Object.keys(NEUTRAL_FIELDS)];
  const fields = readFields(withoutNulls(readFields(body)), [...SHARED, ...own], PARTS);
  checkNeutral(fields, NEUTRAL_FIELDS);
  const { prompt = '', system = '', raw = false } = fields;
  if (typeof prompt !== 'string') throw HttpError.expected('prompt', 'a text', textOf(prompt));
  if (typeof system !== 'string') throw HttpError.expected('system', 'a text', textOf(system));
  if (typeof raw !== 'boolean') throw HttpError.expected('raw', 'true or false', textOf(raw));
  const chat: readonly ChatMessage[] = [
    ...(system === '' ? [] : [{ role: 'system', content: system } as const]),
    ...(prompt === '' ? [] : [{ role: 'user', content: prompt } as const]),
  ];
  const request = requestOf(fields, prompt === '' ? [] : chat, {});
  if (raw && system !== '')
    throw HttpError.invalid(
      'system',
      '`system` needs the chat template, which `raw: true` leaves out: put it into `prompt`, or leave out one of them.',
    );
  if (raw && request.thinks)
    throw HttpError.invalid(
      'think',
      '`think` needs the chat template, which `raw: true` leaves out: leave out one of them.',
    );
  if (raw) return { ...request, prompts: [prompt] };
  return system === '' ? { ...request, plainPrompt: prompt } : request;
}

function requestOf(
  fields: Fields,
  messages: readonly ChatMessage[],
  ofTools: GenerationOptions,
): OllamaRequest {
  const { model, stream: isStream = true, keep_alive: keepAlive, think } = fields;
  if (model !== undefined && typeof model !== 'string')
    throw HttpError.expected('model', 'a text', textOf(model));
  if (typeof isStream !== 'boolean') throw HttpError.expected('stream', 'true or false', textOf(isStream));
  for (const name of ['truncate', 'shift'])
    if (typeof (fields[name] ?? true) !== 'boolean')
      throw HttpError.expected(name, 'true or false', textOf(fields[name]));
  const mayGo = mayGoAfter(keepAlive);
  const options = readModelOptions(fields);
  return {
    prompts: [messages],
    options: { ...withEffort(withLimit(options), readThink(think)), ...ofTools, n: 1 },
    ...(messages.length === 0 && { isFor: mayGo ? 'unload' : 'load' }),
    thinks: asksToThink(think),
    fillsContext: (options.maxNewTokens ?? 0) < 0,
    hasPromptLogprobs: false,
    names: NAMES,
    model: nameOf(model),
    numChoicesPerPrompt: 1,
    isStream,
    user: undefined,
    usage: { isIncluded: false, isContinuous: false },
  };
}

/** Clients write `latest` behind a name without a tag. */
export function nameOf(model: string | undefined): string | undefined {
  return model?.replace(/:latest$/, '');
}

const DURATION = /^[+-]?(?:0|(?:(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+)$/;

/** Whether a model is kept for no time. Here it stays as long as the server does. @throws HttpError 400 */
export function mayGoAfter(keepAlive: unknown): boolean {
  if (keepAlive === undefined) return false;
  if (typeof keepAlive === 'number') return keepAlive === 0;
  if (typeof keepAlive === 'string' && keepAlive.length <= 100 && DURATION.test(keepAlive))
    return !/[1-9]/.test(keepAlive);
  throw HttpError.expected('keep_alive', 'a number of seconds, or a duration, such as 5m', textOf(keepAlive));
}

/** The options of a body, without those that are null. @throws HttpError 400 for an unknown one, and a value of another type. */
export function readOllamaOptions(options: unknown = {}): Fields {
  if (!isRecord(options)) throw HttpError.expected('options', 'an object', textOf(options));
  const given = withoutNulls(options);
  for (const [name, value] of Object.entries(given)) {
    const type = TYPE_OF_OPTION.get(name);
    const known = Array.from(TYPE_OF_OPTION.keys(), (each) => `options.${each}`);
    if (!type) throw HttpError.unknown(`options.${name}`, known);
    if (!HOLDS[type](value)) throw HttpError.expected(`options.${name}`, type, textOf(value));
  }
  return given;
}

const PENALTIES = { repeat_penalty: 1, presence_penalty: 0, frequency_penalty: 0 };

function readModelOptions(fields: Fields): GenerationOptions {
  const given = readOllamaOptions(fields['options']);
  // It limits a penalty, and without one nothing.
  const { repeat_last_n: _window, ...others } = given;
  const hasPenalty = Object.entries(PENALTIES).some(([name, none]) => (given[name] ?? none) !== none);
  checkNeutral(hasPenalty ? given : others, NEUTRAL_OPTIONS, 'options.');
  const { stop, seed, ...read } = readOptions(given, OPTIONS);
  const format = readFormat(fields['format']);
  return {
    ...read,
    // -1 is any seed.
    ...(seed !== undefined && seed !== -1 && { seed }),
    ...(stop !== undefined && { stop: typeof stop === 'string' ? [stop] : stop }),
    ...(format && { responseFormat: format }),
  };
}

/** A negative limit is none: the answer may fill the context. */
function withLimit(options: GenerationOptions): GenerationOptions {
  const { maxNewTokens = 0, ...others } = options;
  return maxNewTokens < 0 ? others : options;
}

function asksToThink(think: unknown): boolean {
  return think !== undefined && think !== false && think !== 'none';
}

function readThink(think: unknown): unknown {
  if (think === undefined || think === true) return think;
  if (think === false) return 'none';
  if (typeof think === 'string' && EFFORTS.includes(think)) return think;
  throw HttpError.expected('think', `true, false, or one of ${EFFORTS.join(', ')}`, textOf(think));
}

function readFormat(format: unknown): GenerationOptions['responseFormat'] {
  if (format === undefined || format === '') return undefined;
  if (format === 'json') return { type: 'json_object' };
  if (isRecord(format)) return { type: 'json_schema', schema: format };
  throw HttpError.expected('format', 'json, or a JSON Schema', textOf(format));
}

/** Answers of tools name the tool, or nothing at all: they answer the calls before in their order. */
function readOllamaMessage(index: number, message: unknown, before: readonly ChatMessage[]): ChatMessage {
  const place = `messages[${index}]`;
  if (!isRecord(message))
    throw HttpError.expected(place, 'an object with `role` and `content`', textOf(message));
  const { thinking, tool_name: toolName, name, tool_calls: calls, ...rest } = message;
  const isAnswer = message['role'] === 'tool';
  const field = toolName === undefined && name !== undefined ? 'name' : 'tool_name';
  const id = isAnswer
    ? (rest['tool_call_id'] ?? openCallOf(before, `${place}.${field}`, toolName ?? name))
    : undefined;
  return readMessage(
    place,
    {
      ...rest,
      ...(isAnswer && { tool_call_id: id }),
      ...(!isAnswer && name !== undefined && { name }),
      ...(!isAnswer && toolName !== undefined && { tool_name: toolName }),
      ...readThoughts(place, message['role'], thinking),
      ...(calls !== undefined && { tool_calls: readCalls(`${place}.tool_calls`, calls, index) }),
    },
    { textTypes: ['text'], ignored: new Set() },
  );
}

/** @throws HttpError 400 */
function readThoughts(place: string, role: unknown, thinking: unknown): Fields {
  if (thinking === undefined || thinking === null || thinking === '') return {};
  if (role !== 'assistant') return { thinking };
  if (typeof thinking === 'string') return { reasoning_content: thinking };
  throw HttpError.expected(`${place}.thinking`, 'a text', textOf(thinking));
}

/** The ID of the first call that has no answer, of this tool if one is named. @throws HttpError 400 */
function openCallOf(before: readonly ChatMessage[], place: string, toolName: unknown): string {
  const answered = new Set(before.map(({ toolCallId }) => toolCallId));
  const open = before.flatMap(({ toolCalls = [] }) => toolCalls).filter(({ id }) => !answered.has(id));
  const call = toolName === undefined ? open[0] : open.find(({ name }) => name === toolName);
  if (call) return call.id;
  throw HttpError.expected(place, 'the tool of a call before that has no answer yet', textOf(toolName));
}

function readCalls(place: string, calls: unknown, index: number): unknown {
  return Array.isArray(calls)
    ? calls.map((call, at) => callOf(`${place}[${at}]`, call, `call_${index}_${at}`))
    : calls;
}

/** Arguments are an object here, and JSON elsewhere. @throws HttpError 400 */
function callOf(place: string, call: unknown, otherwise: string): unknown {
  const { id, function: called, ...others } = isRecord(call) ? call : {};
  const { name, arguments: given = {}, ...inner } = isRecord(called) ? called : {};
  if (typeof name !== 'string')
    throw HttpError.expected(
      place,
      'an object with a `function`, which has `name` and `arguments`',
      textOf(call),
    );
  if (!isRecord(given) && typeof given !== 'string')
    throw HttpError.expected(`${place}.function.arguments`, 'an object', textOf(given));
  const json = typeof given === 'string' ? given : (writeOrderedJson(given) ?? '');
  return {
    ...others,
    id: typeof id === 'string' && id !== '' ? id : otherwise,
    function: { ...inner, name, arguments: json },
  };
}
