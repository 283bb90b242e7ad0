import { shown } from '../../batching/base/errors.ts';
import { isAbsent } from '../../batching/options/tools.ts';
import type { ToolCall } from '../answers.ts';
import type { GenerationOptions, GenerationTool, ToolChoice } from '../generation.ts';
import { isRecord } from '../../platform/is-record.ts';
import { HttpError } from './http-error.ts';
import { checkOthers, textOf } from './chat-messages.ts';

type Fields = Readonly<Record<string, unknown>>;

/** The names of the options of tools in a body. */
export const TOOL_NAMES = [
  ['tools', 'tools'],
  ['toolChoice', 'tool_choice'],
  ['parallelToolCalls', 'parallel_tool_calls'],
] as const;
/** And where a tool's fields are those of its `function`. */
export const NESTED_TOOL_NAMES = [
  ['tools[]', 'tools[].function'],
  ['prompt[].toolCalls[].arguments', 'messages[].tool_calls[].function.arguments'],
] as const;
export const TOOL_FIELDS = TOOL_NAMES.map(([, name]) => name);

/**
 * The options of a body's tools; none where no tool may be called. The worker checks names and schemas.
 *
 * @param isFlat Whether a function's fields are those of its tool, as in the Responses API.
 * @throws HttpError 400
 */
export function readTools(
  { tools = [], tool_choice: choice = 'auto', parallel_tool_calls: isParallel = true }: Fields,
  isFlat: boolean,
): Pick<GenerationOptions, 'tools' | 'toolChoice' | 'parallelToolCalls'> {
  if (!Array.isArray(tools)) throw HttpError.expected('tools', 'a list of tools', textOf(tools));
  if (typeof isParallel !== 'boolean')
    throw HttpError.expected('parallel_tool_calls', 'true or false', textOf(isParallel));
  const read = tools.map((tool, index) => readTool(`tools[${index}]`, tool, isFlat));
  const toolChoice = readChoice(choice, isFlat);
  if (read.length === 0 && (toolChoice === 'auto' || toolChoice === 'none')) return {};
  return {
    tools: read,
    ...(toolChoice !== 'auto' && { toolChoice }),
    ...(!isParallel && { parallelToolCalls: false }),
  };
}

/** The function as it was written: the chat template may write it as JSON. */
function readTool(place: string, tool: unknown, isFlat: boolean): GenerationTool {
  if (!isRecord(tool) || tool['type'] !== 'function')
    throw HttpError.expected(`${place}.type`, 'function', textOf(isRecord(tool) ? tool['type'] : tool));
  const { type: _type, ...flat } = tool;
  const { function: nested, ...beside } = flat;
  const given = isFlat ? flat : nested;
  const inner = isFlat ? place : `${place}.function`;
  if (!isRecord(given)) throw HttpError.expected(inner, 'an object with a `name`', textOf(given));
  const { name, description, parameters, strict, ...others } = given;
  for (const key of Object.keys(isFlat ? {} : beside)) throw unknownField(`${place}.${key}`);
  for (const key of Object.keys(others)) throw unknownField(`${inner}.${key}`);
  if (typeof name !== 'string') throw HttpError.expected(`${inner}.name`, 'a text', textOf(name));
  if (!isAbsent(description) && typeof description !== 'string')
    throw HttpError.expected(`${inner}.description`, 'a text', textOf(description));
  if (!isAbsent(parameters) && !isRecord(parameters))
    throw HttpError.expected(`${inner}.parameters`, 'a JSON Schema', textOf(parameters));
  if (!isAbsent(strict) && typeof strict !== 'boolean')
    throw HttpError.expected(`${inner}.strict`, 'true or false', textOf(strict));
  return {
    ...given,
    name,
    ...(description !== undefined && { description }),
    ...(parameters !== undefined && { parameters }),
    ...(strict !== undefined && { strict }),
  };
}

function unknownField(place: string): HttpError {
  return HttpError.invalid(
    place,
    `\`${shown(place)}\` isn't supported here: a function has a name, a description, parameters and strict.`,
  );
}

const HAS_NAME = 'a choice has the name of a function';

function readChoice(choice: unknown, isFlat: boolean): ToolChoice {
  if (choice === 'auto' || choice === 'none' || choice === 'required') return choice;
  if (isRecord(choice) && choice['type'] === 'function') {
    const { type: _type, ...flat } = choice;
    const { function: nested, ...beside } = flat;
    const named = isFlat ? flat : nested;
    if (isRecord(named) && typeof named['name'] === 'string') {
      const { name, ...others } = named;
      if (!isFlat) checkOthers('tool_choice', beside, new Set(), HAS_NAME);
      checkOthers(isFlat ? 'tool_choice' : 'tool_choice.function', others, new Set(), HAS_NAME);
      return { name };
    }
  }
  throw HttpError.expected(
    'tool_choice',
    'auto, none, required, or a function with its `name`',
    textOf(choice),
  );
}

/** A call as an answer of chat completions has it. */
export function chatToolCall({ id, name, arguments: json }: ToolCall): object {
  return { id, type: 'function', function: { name, arguments: json } };
}
