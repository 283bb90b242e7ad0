import {
  prefixOf,
  type ResponseFormat,
  type StructuralPart,
  type StructuralTag,
} from '../../../batching/generation/response-format.ts';
import type { GenerationTool, ToolChoice } from '../../../batching/generation/tools.ts';
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
): ResponseFormat | undefined {
  const { responseFormat, tools } = asked;
  const calls = syntax?.tools && tools.length > 0 ? callsOf(asked, syntax.tools) : undefined;
  // Free text may think as it likes.
  if (calls && !responseFormat && asked.toolChoice === 'auto')
    return { type: 'structural_tag', format: calls };
  const thinking = syntax?.thinking ?? 'never';
  if (!calls && (!responseFormat || thinking === 'never')) return responseFormat;
  const format = calls ?? (responseFormat && partOf(responseFormat));
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
): StructuralPart {
  const named = typeof toolChoice === 'object' ? tools.filter(({ name }) => name === toolChoice.name) : tools;
  const tags = named.map((tool) => tagOf(tool, syntax));
  if (responseFormat) return { type: 'or', elements: [...tags, partOf(responseFormat)] };
  const isOne = !parallelToolCalls || syntax.separator === undefined;
  if (toolChoice === 'auto')
    return { type: 'triggered_tags', triggers: [syntax.trigger], tags, stop_after_first: isOne };
  return {
    type: 'tags_with_separator',
    tags,
    separator: syntax.separator ?? '',
    at_least_one: true,
    stop_after_first: isOne || named !== tools,
  };
}

function tagOf(tool: GenerationTool, { begin, middle, end, argumentsOf }: ToolSyntax): StructuralTag {
  return { type: 'tag', begin: `${begin}${tool.name}${middle}`, content: argumentsOf(tool), end };
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
function partOf(format: ResponseFormat): StructuralPart {
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
