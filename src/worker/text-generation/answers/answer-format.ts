import { ResponseFormatUnsupportedError } from '../../../batching/errors.ts';
import {
  prefixOf,
  type ResponseFormat,
  type StructuralPart,
  type StructuralTag,
} from '../../../batching/generation/response-format.ts';
import type { GenerationTool, ToolChoice } from '../../../batching/generation/tools.ts';
import { isRecord } from '../../../platform/is-record.ts';
import { THINK_BEGIN, THINK_END, type AnswerSyntax } from './answer-parser.ts';
import type { ToolSyntax } from './tool-syntax.ts';

/** What a request asks of its answer. */
export interface AskedAnswer {
  readonly responseFormat: ResponseFormat | undefined;
  /** Empty where none may be called. */
  readonly tools: readonly GenerationTool[];
  readonly toolChoice: ToolChoice;
  readonly parallelToolCalls: boolean;
}

/** The shape of a whole answer, made of what the request asks for. */
export interface AnswerFormat {
  readonly format: ResponseFormat;
  /** Where parts of it come from: the option that has what is under this field of the part. */
  readonly origins: ReadonlyMap<unknown, Origin>;
}

interface Origin {
  readonly option: string;
  readonly field: string;
}

type Origins = Map<unknown, Origin>;

const THINKING = { type: 'any_text' } as const;
/** Models that think leave an empty line before they answer. */
const AFTER_THINKING = { type: 'const_string', value: '\n\n' } as const;
const NOTHING = { type: 'grammar', grammar: 'root ::= ""' } as const;

/**
 * The shape of the whole answer: of its calls, and after its thinking. Undefined for free text. With a shape of its own, an answer
 * is either of that shape or one call.
 */
export function answerFormatOf(
  asked: AskedAnswer,
  syntax: AnswerSyntax | undefined,
): AnswerFormat | undefined {
  const origins: Origins = new Map();
  const format = formatOf(asked, syntax, origins);
  return format && { format, origins };
}

/** An error about a part of an answer's shape, in the request's own options. */
export function inAskedOptions(error: unknown, { format, origins }: AnswerFormat): unknown {
  if (!(error instanceof ResponseFormatUnsupportedError) || error.param === undefined) return error;
  const { message, param } = error;
  let part: unknown = format;
  for (const { 0: step, 1: name = '', 2: place = name, index } of param.matchAll(/\.(\w+)|\[(\d+)\]/g)) {
    part = isRecord(part) || Array.isArray(part) ? Reflect.get(part, place) : undefined;
    const origin = origins.get(part);
    if (!origin) continue;
    const rest = param.slice(index + step.length);
    const asked = origin.option + (rest.startsWith(origin.field) ? rest.slice(origin.field.length) : rest);
    return new ResponseFormatUnsupportedError(
      message.replace(param, () => asked),
      asked,
    );
  }
  return error;
}

function formatOf(
  asked: AskedAnswer,
  syntax: AnswerSyntax | undefined,
  origins: Origins,
): ResponseFormat | undefined {
  const { responseFormat, tools } = asked;
  const calls = syntax?.tools && tools.length > 0 ? callsOf(asked, syntax.tools, origins) : undefined;
  // Free text may think as it likes.
  if (calls && !responseFormat && asked.toolChoice === 'auto')
    return { type: 'structural_tag', format: calls };
  const thinking = syntax?.thinking ?? 'never';
  if (!calls && (!responseFormat || thinking === 'never')) return responseFormat;
  const format = calls ?? (responseFormat && partOf(responseFormat, origins));
  const prefix = prefixOf(responseFormat);
  return (
    format && {
      type: 'structural_tag',
      format: afterThinking(format, thinking),
      ...(prefix !== '' && { prefix }),
    }
  );
}

function callsOf(
  { responseFormat, tools, toolChoice, parallelToolCalls }: AskedAnswer,
  syntax: ToolSyntax,
  origins: Origins,
): StructuralPart {
  const all = tools.map((tool, index) => tagOf(tool, `tools[${index}].parameters`, syntax, origins));
  const tags =
    typeof toolChoice === 'object' ? all.filter((_, index) => tools[index]?.name === toolChoice.name) : all;
  if (responseFormat) return { type: 'or', elements: [...tags, partOf(responseFormat, origins)] };
  const isOne = !parallelToolCalls || syntax.separator === undefined;
  if (toolChoice === 'auto')
    return { type: 'triggered_tags', triggers: [syntax.trigger], tags, stop_after_first: isOne };
  return {
    type: 'tags_with_separator',
    tags,
    separator: syntax.separator ?? '',
    at_least_one: true,
    stop_after_first: isOne || tags !== all,
  };
}

function tagOf(
  tool: GenerationTool,
  option: string,
  { begin, middle, end, argumentsOf }: ToolSyntax,
  origins: Origins,
): StructuralTag {
  const content = argumentsOf(tool, option);
  origins.set(content, { option, field: `.${content.type}` });
  return { type: 'tag', begin: `${begin}${tool.name}${middle}`, content, end };
}

function afterThinking(format: StructuralPart, thinking: AnswerSyntax['thinking']): StructuralPart {
  if (thinking === 'never') return format;
  const begin = thinking === 'begun' ? '' : THINK_BEGIN;
  const thought: StructuralPart = {
    type: 'sequence',
    elements: [{ type: 'tag', begin, content: THINKING, end: THINK_END }, AFTER_THINKING],
  };
  const first: StructuralPart = thinking === 'begun' ? thought : { type: 'or', elements: [thought, NOTHING] };
  return { type: 'sequence', elements: [first, format] };
}

/** A shape as a part of a larger one. */
function partOf(format: ResponseFormat, origins: Origins): StructuralPart {
  const part = plainPartOf(format);
  if (format.type === 'json_schema')
    origins.set(part, { option: 'responseFormat.schema', field: '.json_schema' });
  else
    origins.set(part, {
      option: format.type === 'structural_tag' ? 'responseFormat.format' : 'responseFormat',
      field: '',
    });
  return part;
}

function plainPartOf(format: ResponseFormat): StructuralPart {
  switch (format.type) {
    case 'json_schema':
      return { type: 'json_schema', json_schema: format.schema };
    case 'json_object':
      return { type: 'json_schema', json_schema: { type: 'object' } };
    case 'choice':
      return { type: 'or', elements: format.choices.map((value) => ({ type: 'const_string', value })) };
    case 'structural_tag':
      return format.format;
    case 'regex':
    case 'grammar':
      return format;
    default:
      return format satisfies never;
  }
}
