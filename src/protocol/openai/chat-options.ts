import {
  chatNameOf,
  OPTION_NAMES,
  optionOf,
  type OptionName,
} from '../../batching/options/generation-options.ts';
import { isRecord } from '../../platform/is-record.ts';
import { HttpError } from './http-error.ts';
import type { NeutralValues, OptionNames } from './generation-request.ts';
import { shown } from '../../batching/base/errors.ts';
import { isAbsent } from '../../batching/options/tools.ts';
import type { ToolCall } from '../answers.ts';
import type { GenerationOptions, GenerationTool, ToolChoice } from '../generation.ts';
import { checkOthers, textOf } from './chat-messages.ts';

// The part of a request's body that the endpoints for chats share.

type Fields = Readonly<Record<string, unknown>>;

/** There is one tier here: an answer says `default`. */
const SERVICE_TIERS = ['auto', 'default', 'flex', 'priority', 'scale'];

/** Values that ask for nothing. */
export const CHAT_NEUTRAL_VALUES: NeutralValues = {
  service_tier: SERVICE_TIERS,
  echo: [false],
  // The template writes them.
  add_special_tokens: [false],
};

/** No model here is trained for them. */
export const VERBOSITIES = ['low', 'medium', 'high'];
export const EFFORTS = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh'];

/** Options with another name than in `/v1/completions`; undefined where they don't go with a chat. */
const CHAT_NAMES: Readonly<Partial<Record<OptionName, string | undefined>>> = {
  logprobs: 'top_logprobs',
  echo: undefined,
  promptLogprobs: undefined,
};

/** @param limit The endpoint's name of `maxNewTokens`. */
export function chatNamesWith(limit: string): OptionNames {
  const own = { ...CHAT_NAMES, maxNewTokens: limit };
  return new Map(
    OPTION_NAMES.flatMap((name) => {
      const chatName = name in own ? own[name] : chatNameOf(optionOf(name));
      return chatName === undefined ? [] : [[name, chatName] as const];
    }),
  );
}

/**
 * The effort as the variables that templates of models that reason take. Others ignore them. Some think unless they are told not to,
 * others only where they are told to.
 *
 * @param effort One of `EFFORTS`, or true for any but none; undefined where neither is asked for.
 */
export function withEffort(options: GenerationOptions, effort: unknown): GenerationOptions {
  if (effort === undefined) return options;
  const variables = {
    enable_thinking: effort !== 'none',
    ...(effort !== 'none' && effort !== true && { reasoning_effort: effort }),
  };
  return { ...options, chatTemplateArguments: { ...variables, ...options.chatTemplateArguments } };
}

/** A field of a body, and its effort as in `withEffort`. */
export type AskedEffort = readonly [field: string, effort: unknown];

/** The one effort that the fields of a body ask for. @throws HttpError 400 for two that contradict each other. */
export function oneEffort(asked: readonly AskedEffort[]): unknown {
  const given = asked.filter(([, effort]) => effort !== undefined);
  const [first] = given.toSorted(([, a], [, b]) => Number(a === true) - Number(b === true));
  const other = given.find(([, effort]) => (effort === true ? first?.[1] === 'none' : effort !== first?.[1]));
  if (!first || !other) return first?.[1];
  const message = `\`${first[0]}\` and \`${other[0]}\` contradict each other: pass one of them.`;
  throw HttpError.invalid(other[0], message);
}

/**
 * The options of a chat whose last message the answer continues, as vLLM asks for it.
 *
 * @throws HttpError 400
 */
export function checkContinuation(fields: Fields): void {
  const { add_generation_prompt: begins = true, continue_final_message: continues = false } = fields;
  if (typeof begins !== 'boolean') throw HttpError.expected('add_generation_prompt', 'true or false');
  if (fields['add_generation_prompt'] === true && continues === true)
    throw HttpError.invalid(
      'add_generation_prompt',
      '`add_generation_prompt: true` begins a message, and `continue_final_message: true` continues the last one: pass false with it.',
    );
  if (!begins && continues !== true)
    throw HttpError.invalid(
      'add_generation_prompt',
      '`add_generation_prompt: false` goes with `continue_final_message: true` alone: leave it out, or pass both.',
    );
}

/** Variables of a template that the request has fields for. */
const OWN_VARIABLES = ['messages', 'add_generation_prompt', 'tools'];

/** @throws HttpError 400 for a variable that the template would get another value of. */
export function checkTemplateArguments({ chat_template_kwargs: given }: Fields): void {
  const own = OWN_VARIABLES.find((name) => isRecord(given) && Object.hasOwn(given, name));
  if (own === undefined) return;
  const param = `chat_template_kwargs.${own}`;
  throw HttpError.invalid(
    param,
    `\`${param}\` can't be set: the template gets it from the request's other fields.`,
  );
}

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
