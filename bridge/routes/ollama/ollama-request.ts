import type { ChatMessage } from '../../../src/protocol/chat.ts';
import type { GenerationOptions } from '../../../src/protocol/generation.ts';
import { isRecord } from '../../../src/platform/is-record.ts';
import { readMessage, textOf } from '../../../src/protocol/openai/chat-messages.ts';
import { EFFORTS, withEffort } from '../../../src/protocol/openai/chat-options.ts';
import { readFields, withoutNulls } from '../../../src/protocol/openai/fields.ts';
import {
  checkNeutral,
  readOptions,
  type GenerationRequest,
  type NeutralValues,
  type OptionNames,
} from '../../../src/protocol/openai/generation-request.ts';
import { HttpError } from '../../../src/protocol/openai/http-error.ts';
import { readTools } from '../../../src/protocol/openai/tools.ts';

type Fields = Readonly<Record<string, unknown>>;

/** A request to `POST /api/chat` or `POST /api/generate`. */
export interface OllamaRequest extends GenerationRequest {
  /** Asks only that the model is there. */
  readonly isForLoad: boolean;
  /** The prompt for a model without a chat template. */
  readonly plainPrompt?: string;
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

/** How a model is run, which is the operator's choice here. */
const RUNNER_OPTIONS =
  'num_ctx num_batch num_gpu main_gpu num_thread num_keep numa low_vram f16_kv use_mmap use_mlock vocab_only draft_num_predict mirostat_tau mirostat_eta'.split(
    ' ',
  );

const NEUTRAL_OPTIONS: NeutralValues = { typical_p: [1], tfs_z: [1], mirostat: [0], repeat_last_n: [-1] };

const NEUTRAL_FIELDS: NeutralValues = { images: [[]], suffix: [''], template: [''], context: [[]] };

const SHARED = ['model', 'stream', 'format', 'options', 'keep_alive', 'think', 'truncate', 'shift'];

const NAMES = new Map<string, string>([
  ...Array.from(OPTIONS, ([ours, theirs]) => [ours, `options.${theirs}`] as const),
  ['tools', 'tools'],
  ['tools[].parameters', 'tools[].function.parameters'],
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
  if (raw) return { ...request, prompts: [prompt] };
  return system === '' ? { ...request, plainPrompt: prompt } : request;
}

function requestOf(
  fields: Fields,
  messages: readonly ChatMessage[],
  ofTools: GenerationOptions,
): OllamaRequest {
  const { model, stream: isStream = true } = fields;
  if (model !== undefined && typeof model !== 'string')
    throw HttpError.expected('model', 'a text', textOf(model));
  if (typeof isStream !== 'boolean') throw HttpError.expected('stream', 'true or false', textOf(isStream));
  return {
    prompts: [messages],
    options: { ...readModelOptions(fields), ...ofTools },
    isForLoad: messages.length === 0,
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

function readModelOptions(fields: Fields): GenerationOptions {
  const { options = {}, think } = fields;
  if (!isRecord(options)) throw HttpError.expected('options', 'an object', textOf(options));
  const given = withoutNulls(options);
  const known = [...OPTIONS.values(), ...RUNNER_OPTIONS, ...Object.keys(NEUTRAL_OPTIONS)];
  const unknown = Object.keys(given).find((name) => !known.includes(name));
  if (unknown !== undefined)
    throw HttpError.unknown(
      `options.${unknown}`,
      known.map((name) => `options.${name}`),
    );
  // It limits a penalty, and without one nothing.
  const { repeat_last_n: _window, ...others } = given;
  const hasPenalty = (given['repeat_penalty'] ?? 1) !== 1;
  checkNeutral(hasPenalty ? given : others, NEUTRAL_OPTIONS, 'options.');
  const { stop, maxNewTokens, ...read } = readOptions(given, OPTIONS);
  // Negative: as many as there is room for.
  const hasLimit = maxNewTokens !== undefined && maxNewTokens >= 0;
  const format = readFormat(fields['format']);
  return withEffort(
    {
      ...read,
      ...(hasLimit && { maxNewTokens }),
      ...(stop !== undefined && { stop: typeof stop === 'string' ? [stop] : stop }),
      ...(format && { responseFormat: format }),
    },
    readThink(think),
  );
}

function readThink(think: unknown): unknown {
  if (think === undefined || think === true) return undefined;
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
  const { thinking, tool_name: toolName, name, tool_calls: calls, tool_call_id: given, ...rest } = message;
  const isAnswer = message['role'] === 'tool';
  const id = given ?? (isAnswer ? openCallOf(before, toolName ?? name) : undefined);
  return readMessage(
    place,
    {
      ...rest,
      ...(!isAnswer && name !== undefined && { name }),
      ...(typeof thinking === 'string' && { reasoning_content: thinking }),
      ...(Array.isArray(calls) && {
        tool_calls: calls.map((call, at) => callOf(call, `call_${index}_${at}`)),
      }),
      ...(id !== undefined && { tool_call_id: id }),
    },
    { field: 'messages', textTypes: ['text'], ignored: new Set() },
  );
}

function openCallOf(before: readonly ChatMessage[], toolName: unknown): string | undefined {
  const calls = before.flatMap(({ toolCalls = [] }) => toolCalls);
  const answered = new Set(before.map(({ toolCallId }) => toolCallId));
  const open = calls.filter(({ id }) => !answered.has(id));
  return (open.find((call) => call.name === toolName) ?? open[0])?.id;
}

/** Arguments are an object here, and JSON elsewhere. */
function callOf(call: unknown, otherwise: string): unknown {
  const { id, function: called } = isRecord(call) ? call : {};
  const { name, arguments: given = {} } = isRecord(called) ? called : {};
  const json = typeof given === 'string' ? given : JSON.stringify(given);
  return { id: typeof id === 'string' && id !== '' ? id : otherwise, function: { name, arguments: json } };
}
