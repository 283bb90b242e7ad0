import { ResponseFormatUnsupportedError } from '../../batching/base/errors.ts';
import { prefixOf, type ResponseFormat } from '../../batching/options/response-format.ts';
import { writeOrderedJson } from '../../batching/base/ordered-json.ts';
import type { ChatMessage } from '../chat.ts';
import type { ResolvedOptions } from '../resolve-options.ts';

/** Which shapes a server takes. */
interface Taker {
  readonly hasExtensions: boolean;
  readonly isChat: boolean;
}

/**
 * The fields of a request's body that ask for a shape of the answer, in OpenAI's words where it has some, else in vLLM's.
 *
 * @throws ResponseFormatUnsupportedError for a shape that the server would ignore.
 */
export function shapeBody(format: ResponseFormat | undefined, { hasExtensions, isChat }: Taker): object {
  if (!format) return {};
  const isOpenAi = isChat && (format.type === 'json_object' || format.type === 'json_schema');
  if (!isOpenAi && !hasExtensions)
    throw ResponseFormatUnsupportedError.of(
      'responseFormat',
      "can't be passed on to this server, which takes JSON as the answer to a chat alone",
      'leave it out, or use a model in the tab',
    );
  if (prefixOf(format) !== '')
    throw ResponseFormatUnsupportedError.of(
      'responseFormat.prefix',
      "can't be passed on to a server",
      'leave it out, or use a model in the tab',
    );
  switch (format.type) {
    case 'json_object':
      return { response_format: { type: 'json_object' } };
    case 'json_schema': {
      const { name = 'answer', schema } = format;
      return { response_format: { type: 'json_schema', json_schema: { name, schema, strict: true } } };
    }
    case 'choice':
      return { structured_outputs: { choice: format.choices } };
    case 'regex':
      return { structured_outputs: { regex: format.pattern } };
    case 'grammar':
      return { structured_outputs: { grammar: format.grammar } };
    case 'structural_tag':
      return { structured_outputs: { structural_tag: writeOrderedJson(format) } };
  }
}

type ToolOptions = Pick<ResolvedOptions, 'tools' | 'toolChoice' | 'parallelToolCalls'>;

/** The fields of a chat's body that give it tools. */
export function toolsBody({ tools, toolChoice, parallelToolCalls }: ToolOptions): object {
  if (tools.length === 0) return {};
  return {
    tools: tools.map((tool) => ({ type: 'function', function: tool })),
    tool_choice: typeof toolChoice === 'object' ? { type: 'function', function: toolChoice } : toolChoice,
    ...(!parallelToolCalls && { parallel_tool_calls: false }),
  };
}

/** A message in OpenAI's words, with vLLM's name of the reasoning. */
export function messageBody({ reasoning, toolCalls, toolCallId, ...message }: ChatMessage): object {
  return {
    ...message,
    ...(reasoning !== undefined && { reasoning_content: reasoning }),
    ...(toolCallId !== undefined && { tool_call_id: toolCallId }),
    ...(toolCalls && {
      tool_calls: toolCalls.map(({ id, ...call }) => ({ id, type: 'function', function: call })),
    }),
  };
}
