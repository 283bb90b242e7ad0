import { chatNameOf, httpNameOf, OPTION_NAMES, optionOf } from '../../batching/generation/options.ts';
import { isRecord } from '../../platform/is-record.ts';
import { EMBEDDER } from '../../protocol/embedding.ts';
import { JobRowError } from '../../protocol/errors/jobs.ts';
import { TEXT_GENERATOR } from '../../protocol/generation.ts';
import type { JobDeployment } from '../../protocol/jobs.ts';

type Fields = Readonly<Record<string, unknown>>;

/** A row as a deployment takes it. The deployment checks the input and the values of the options. */
export interface RowRequest {
  readonly deployment: JobDeployment;
  readonly input: unknown;
  readonly options: Fields;
}

/** OpenAI's default of `/v1/completions`. */
const DEFAULT_MAX_TOKENS = 16;

/** Fields that change nothing here: one model serves, and no answer is streamed. */
const IGNORED = ['model', 'stream', 'user', 'store', 'metadata', 'service_tier'];

/** Options with another name in chats; undefined where they don't go with one. */
const CHAT_NAMES: Readonly<Record<string, string | undefined>> = {
  maxNewTokens: 'max_completion_tokens',
  logprobs: 'top_logprobs',
  echo: undefined,
  promptLogprobs: undefined,
};

const COMPLETION_FIELDS = new Map(
  OPTION_NAMES.flatMap((name) => {
    const field = httpNameOf(optionOf(name));
    return field === undefined ? [] : [[field, name] as const];
  }),
);

const CHAT_FIELDS = new Map<string, string>([
  ...OPTION_NAMES.flatMap((name) => {
    const field = name in CHAT_NAMES ? CHAT_NAMES[name] : chatNameOf(optionOf(name));
    return field === undefined ? [] : [[field, name] as const];
  }),
  ['max_tokens', 'maxNewTokens'],
  ['parallel_tool_calls', 'parallelToolCalls'],
]);

/** Reads a line of an OpenAI batch file. @throws JobRowError. */
export function readRequest({ custom_id: customId, method, url, body }: Fields): RowRequest {
  if (typeof customId !== 'string') throw JobRowError.expected('custom_id', 'a text');
  if (method !== 'POST') throw JobRowError.expected('method', 'POST');
  if (!isRecord(body)) throw JobRowError.expected('body', 'an object');
  const given = Object.fromEntries(
    Object.entries(body).filter(([name, value]) => value !== null && !IGNORED.includes(name)),
  );
  if (body['stream'] === true) throw JobRowError.expected('body.stream', 'false');
  switch (url) {
    case '/v1/completions': {
      const { prompt: input, ...fields } = given;
      const options = { maxNewTokens: DEFAULT_MAX_TOKENS, ...readOptions(fields, COMPLETION_FIELDS) };
      return { deployment: TEXT_GENERATOR, input, options };
    }
    case '/v1/chat/completions': {
      const { messages, tools, tool_choice: choice, logprobs: _hasLogprobs, ...fields } = given;
      const options = { ...readOptions(fields, CHAT_FIELDS), ...readTools(tools, choice) };
      return { deployment: TEXT_GENERATOR, input: readMessages(messages), options };
    }
    case '/v1/embeddings': {
      const { input, encoding_format: _format, ...options } = given;
      return { deployment: EMBEDDER, input, options };
    }
    // The deployment's own input and options.
    case TEXT_GENERATOR:
    case EMBEDDER: {
      const { input, options = {} } = body;
      if (isRecord(options)) return { deployment: url, input, options };
      throw JobRowError.expected('body.options', 'an object');
    }
    default:
      throw JobRowError.expected('url', '/v1/completions, /v1/chat/completions or /v1/embeddings');
  }
}

function readOptions(
  { response_format: format, ...fields }: Fields,
  names: ReadonlyMap<string, string>,
): Fields {
  const options = Object.entries(fields).map(([field, value]) => {
    const name = names.get(field);
    if (name === undefined) throw JobRowError.expected(`body.${field}`, 'left out: it is not supported here');
    return [name, value] as const;
  });
  return { ...Object.fromEntries(options), ...readFormat(format) };
}

/** The generator checks the shape. */
function readFormat(format: unknown): Fields {
  if (format === undefined) return {};
  if (!isRecord(format)) throw JobRowError.expected('body.response_format', 'an object with a `type`');
  const { type, json_schema: inner } = format;
  if (type === 'text') return {};
  const schema = isRecord(inner) ? { schema: inner['schema'] } : {};
  return { responseFormat: type === 'json_schema' ? { type, ...schema } : format };
}

function readTools(tools: unknown, choice: unknown): Fields {
  if (tools === undefined) return {};
  if (!Array.isArray(tools)) throw JobRowError.expected('body.tools', 'a list of tools');
  const toolChoice =
    isRecord(choice) && isRecord(choice['function']) ? { name: choice['function']['name'] } : choice;
  return {
    tools: tools.map((tool) => {
      const inner: unknown = isRecord(tool) ? tool['function'] : undefined;
      if (!isRecord(inner)) throw JobRowError.expected('body.tools', 'a list of functions');
      const { strict: _strict, ...fields } = inner;
      return fields;
    }),
    ...(toolChoice !== undefined && { toolChoice }),
  };
}

/** The texts of a message's parts are lines, as in vLLM. The generator checks roles and contents. */
function readMessages(messages: unknown): unknown {
  if (!Array.isArray(messages)) throw JobRowError.expected('body.messages', 'a list of messages');
  return messages.map((message: unknown, at) => {
    if (!isRecord(message)) throw JobRowError.expected(`body.messages[${at}]`, 'an object');
    const {
      role,
      content,
      tool_calls: calls,
      tool_call_id: toolCallId,
      reasoning_content: reasoning,
    } = message;
    return {
      role: role === 'developer' ? 'system' : role,
      content: Array.isArray(content) ? content.map((part) => textOf(part, at)).join('\n') : (content ?? ''),
      ...(Array.isArray(calls) && { toolCalls: calls.map(readCall) }),
      ...(toolCallId !== undefined && { toolCallId }),
      ...(reasoning !== undefined && { reasoning }),
    };
  });
}

function textOf(part: unknown, at: number): string {
  if (isRecord(part) && typeof part['text'] === 'string') return part['text'];
  throw JobRowError.expected(`body.messages[${at}].content`, 'a text, or a list of parts with a `text`');
}

function readCall(call: unknown): Fields {
  const { id, function: called } = isRecord(call) ? call : {};
  return { id, ...(isRecord(called) && { name: called['name'], arguments: called['arguments'] }) };
}
