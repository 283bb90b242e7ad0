import type { ChatMessage } from '../../../src/protocol/chat.ts';
import type { GenerationOptions, GenerationTool } from '../../../src/protocol/generation.ts';
import { isRecord } from '../../../src/platform/is-record.ts';
import { readContent, textOf } from '../../../src/protocol/openai/chat-messages.ts';
import { EFFORTS, withEffort } from '../../../src/protocol/openai/chat-options.ts';
import { readFields, withoutNulls } from '../../../src/protocol/openai/fields.ts';
import {
  checkNeutral,
  readNeutralObject,
  readOptions,
  type GenerationRequest,
  type OptionNames,
} from '../../../src/protocol/openai/generation-request.ts';
import { HttpError } from '../../../src/protocol/openai/http-error.ts';
import { readOpenAiFormat } from '../../../src/protocol/openai/response-format.ts';
import { checkFields, readMessages } from './messages.ts';

type Fields = Readonly<Record<string, unknown>>;

const OPTIONS: OptionNames = new Map([
  ['maxNewTokens', 'max_tokens'],
  ['temperature', 'temperature'],
  ['topP', 'top_p'],
  ['topK', 'top_k'],
  ['stop', 'stop_sequences'],
]);

const NAMES = new Map<string, string>([
  ...OPTIONS,
  ['tools', 'tools'],
  ['tools[].parameters', 'tools[].input_schema'],
  ['toolChoice', 'tool_choice'],
  ['responseFormat', 'output_config.format'],
  ['responseFormat.schema', 'output_config.format.schema'],
]);

/** Fields that only a service reads: the answer doesn't depend on them. */
const IGNORED = ['cache_control', 'diagnostics', 'inference_geo', 'speed', 'user_profile_id', 'workspace_id'];

const KNOWN = [
  ...OPTIONS.values(),
  'model',
  'messages',
  'system',
  'stream',
  'tools',
  'tool_choice',
  'metadata',
  'service_tier',
  'thinking',
  'output_config',
  ...IGNORED,
];

const PARTS = ['output_config.format', 'output_config.effort', 'metadata.user_id'];

export interface MessagesRequest extends GenerationRequest {
  readonly messages: readonly ChatMessage[];
  /** Whether blocks of thinking come without their text. */
  readonly hidesThoughts: boolean;
}

/** A request to `POST /v1/messages`. The worker checks the values of generation options. @throws HttpError 400 */
export function readMessagesRequest(body: unknown): MessagesRequest {
  const asked = readCountRequest(body);
  if (asked.options.maxNewTokens === undefined)
    throw HttpError.expected('max_tokens', 'the most tokens of the answer', 'nothing');
  return asked;
}

/** A request to `POST /v1/messages/count_tokens`, which needs no limit. @throws HttpError 400 */
export function readCountRequest(body: unknown): MessagesRequest {
  const fields = readFields(withoutNulls(readFields(body)), KNOWN, PARTS);
  const { model, stream: isStream = false } = fields;
  if (model !== undefined && typeof model !== 'string')
    throw HttpError.expected('model', 'a text', textOf(model));
  if (typeof isStream !== 'boolean') throw HttpError.expected('stream', 'true or false', textOf(isStream));
  const messages = [...readSystem(fields['system']), ...readMessages(fields['messages'])];
  const last = messages.at(-1);
  checkNeutral(fields, { service_tier: ['auto', 'standard_only'] });
  return {
    prompts: [messages],
    messages,
    hidesThoughts: isRecord(fields['thinking']) && fields['thinking']['display'] === 'omitted',
    options: {
      ...readShape(fields),
      ...readTools(fields),
      n: 1,
      // The answer goes on where the last message ends.
      ...(last?.role === 'assistant' && !last.toolCalls && { continueFinalMessage: true }),
    },
    hasPromptLogprobs: false,
    names: NAMES,
    model,
    numChoicesPerPrompt: 1,
    isStream,
    user: readUser(fields['metadata']),
    usage: { isIncluded: false, isContinuous: false },
  };
}

function readSystem(system: unknown) {
  if (system === undefined || system === '') return [];
  return [{ role: 'system', content: readContent('system', system, ['text']) } as const];
}

function readUser(metadata: unknown = {}): string | undefined {
  if (!isRecord(metadata)) throw HttpError.expected('metadata', 'an object', textOf(metadata));
  checkFields('metadata', metadata, ['user_id']);
  const user = metadata['user_id'] ?? undefined;
  if (user === undefined || typeof user === 'string') return user;
  throw HttpError.expected('metadata.user_id', 'a text', textOf(user));
}

/** No model here knows a budget. */
function checkThinking(thinking: Fields): void {
  checkFields('thinking', thinking, ['type', 'budget_tokens', 'display']);
  const { budget_tokens: budget = 0 } = thinking;
  if (!Number.isInteger(budget))
    throw HttpError.expected('thinking.budget_tokens', 'an integer', textOf(budget));
  const display = thinking['display'] ?? 'summarized';
  if (display !== 'summarized' && display !== 'omitted')
    throw HttpError.expected('thinking.display', 'summarized or omitted', textOf(display));
}

/** The options of sampling, and of the answer's shape and length. */
function readShape(fields: Fields): GenerationOptions {
  const { thinking } = fields;
  const kind = isRecord(thinking) ? thinking['type'] : thinking;
  if (kind !== undefined && kind !== 'enabled' && kind !== 'disabled' && kind !== 'adaptive')
    throw HttpError.expected('thinking.type', 'enabled, disabled or adaptive', textOf(kind));
  if (isRecord(thinking)) checkThinking(thinking);
  const { stop_sequences: stop = [] } = fields;
  if (!Array.isArray(stop)) throw HttpError.expected('stop_sequences', 'a list of texts', textOf(stop));
  const { output_config: config } = fields;
  const format = isRecord(config) ? config['format'] : undefined;
  const { effort } = readNeutralObject(fields, 'output_config', {
    effort: [...EFFORTS, 'max'],
    format: [format],
  });
  const hasFormat = format !== undefined && format !== null;
  const responseFormat = hasFormat ? readOpenAiFormat('output_config.format', format) : undefined;
  const isAsked = kind === 'enabled' || kind === 'adaptive';
  return withEffort(
    { ...readOptions(fields, OPTIONS), ...(responseFormat && { responseFormat }) },
    kind === 'disabled' ? 'none' : (effort ?? (isAsked || undefined)),
  );
}

const PARALLEL = 'disable_parallel_tool_use';
/** The fields of each choice of tools. */
const FIELDS_OF_CHOICE: ReadonlyMap<unknown, readonly string[]> = new Map([
  ['auto', ['type', PARALLEL]],
  ['any', ['type', PARALLEL]],
  ['tool', ['type', 'name', PARALLEL]],
  ['none', ['type']],
]);

function readTools({ tools = [], tool_choice: choice = { type: 'auto' } }: Fields): GenerationOptions {
  if (!Array.isArray(tools)) throw HttpError.expected('tools', 'a list of tools', textOf(tools));
  const read = tools.map((tool: unknown, index) => readTool(`tools[${index}]`, tool));
  const { type, name, disable_parallel_tool_use: given } = isRecord(choice) ? choice : {};
  const known = FIELDS_OF_CHOICE.get(type);
  if (known && isRecord(choice)) checkFields('tool_choice', choice, known);
  const isSingle = given ?? false;
  if (typeof isSingle !== 'boolean')
    throw HttpError.expected('tool_choice.disable_parallel_tool_use', 'true or false', textOf(isSingle));
  const parallel = isSingle ? { parallelToolCalls: false } : {};
  if (type === 'auto') return read.length > 0 ? { tools: read, ...parallel } : {};
  if (read.length === 0 && (type === 'any' || type === 'tool'))
    throw HttpError.expected('tool_choice', 'auto or none without `tools`', textOf(type));
  if (type === 'none') return read.length > 0 ? { tools: read, toolChoice: 'none' } : {};
  if (type === 'any') return { tools: read, toolChoice: 'required', ...parallel };
  if (type === 'tool' && typeof name === 'string') return { tools: read, toolChoice: { name }, ...parallel };
  throw HttpError.expected(
    'tool_choice',
    'of the type auto, any, none, or tool with its `name`',
    textOf(choice),
  );
}

const TOOL_HINTS = ['cache_control', 'eager_input_streaming'];

function readTool(place: string, tool: unknown): GenerationTool {
  if (!isRecord(tool))
    throw HttpError.expected(place, 'an object with `name` and `input_schema`', textOf(tool));
  const {
    type = 'custom',
    name,
    description,
    input_schema: parameters,
    strict,
    ...rest
  } = withoutNulls(tool);
  if (type !== 'custom') {
    const message = `\`${place}\` is of type \`${textOf(type)}\`: no tools are built in here, so pass those that you run yourself, with an \`input_schema\`.`;
    throw HttpError.invalid(place, message);
  }
  const [unknown] = Object.keys(rest).filter((key) => !TOOL_HINTS.includes(key));
  if (unknown !== undefined)
    throw HttpError.unknown(`${place}.${unknown}`, ['name', 'description', 'input_schema', 'strict']);
  if (typeof name !== 'string') throw HttpError.expected(`${place}.name`, 'a text', textOf(name));
  if (!isRecord(parameters))
    throw HttpError.expected(`${place}.input_schema`, 'a JSON Schema', textOf(parameters));
  if (description !== undefined && typeof description !== 'string')
    throw HttpError.expected(`${place}.description`, 'a text', textOf(description));
  if (strict !== undefined && typeof strict !== 'boolean')
    throw HttpError.expected(`${place}.strict`, 'true or false', textOf(strict));
  return { name, parameters, ...(description !== undefined && { description }) };
}
