import { ResponseFormatUnsupportedError } from '../../../batching/base/errors.ts';
import {
  prefixOf,
  type ResponseFormat,
  type StructuralPart,
  type StructuralTag,
} from '../../../batching/options/response-format.ts';
import type { GenerationTool, ToolChoice } from '../../../batching/options/tools.ts';
import { isRecord } from '../../../platform/is-record.ts';
import { marksOf, type AnswerSyntax } from './answer-syntax.ts';
import type { ToolSyntax, WrittenCalls } from './tool-syntax.ts';

/** The options of a request that shape its answer. */
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
  // Free text may think as it likes, unless it may think about calls.
  if (calls && !responseFormat && asked.toolChoice === 'auto' && syntax?.tools?.endsThinking)
    return { type: 'structural_tag', format: calls };
  const thinking = syntax?.thinking ?? 'never';
  if (!calls && (!responseFormat || thinking === 'never')) return responseFormat;
  const format = calls ?? (responseFormat && partOf(responseFormat, origins));
  const prefix = prefixOf(responseFormat);
  return (
    format && {
      type: 'structural_tag',
      format: afterThinking(format, syntax),
      ...(prefix !== '' && { prefix }),
    }
  );
}

function callsOf(
  { responseFormat, tools, toolChoice, parallelToolCalls }: AskedAnswer,
  { written }: ToolSyntax,
  origins: Origins,
): StructuralPart {
  const isNamed = typeof toolChoice === 'object';
  const called = tools.flatMap((tool, index) => {
    if (isNamed && tool.name !== toolChoice.name) return [];
    return [{ tool, content: argumentsOf(tool, `tools[${index}].parameters`, written, origins) }];
  });
  const isOne = isNamed || !parallelToolCalls || written.separator === undefined;
  const isFree = toolChoice === 'auto' && !responseFormat;
  const begins = isFree ? written.begins : written.begins.slice(0, 1);
  const tags = begins.flatMap(({ text }) =>
    called.map(({ tool, content }): StructuralTag => {
      return { type: 'tag', begin: `${text}${tool.name}${written.middle}`, content, end: written.end };
    }),
  );
  const { separator = '', list } = written;
  const whole = list ? [listOf(tags, separator, isOne || responseFormat !== undefined, list)] : tags;
  if (responseFormat) return { type: 'or', elements: [...whole, partOf(responseFormat, origins)] };
  if (isFree)
    return {
      type: 'triggered_tags',
      triggers: begins.map(({ trigger }) => trigger),
      tags: whole,
      stop_after_first: isOne,
    };
  if (list) return { type: 'or', elements: whole };
  return { type: 'tags_with_separator', tags, separator, at_least_one: true, stop_after_first: isOne };
}

/** Calls between brackets. */
function listOf(
  tags: readonly StructuralTag[],
  separator: string,
  isOne: boolean,
  { begin, end }: { readonly begin: string; readonly end: string },
): StructuralTag {
  const calls = { type: 'tags_with_separator', tags, separator, at_least_one: true } as const;
  return { type: 'tag', begin, content: { ...calls, stop_after_first: isOne }, end };
}

function argumentsOf(
  tool: GenerationTool,
  option: string,
  written: WrittenCalls,
  origins: Origins,
): StructuralPart {
  return written.argumentsOf(tool, {
    option,
    noteOrigin: (part, from) => origins.set(part, { option: from, field: `.${part.type}` }),
  });
}

function afterThinking(format: StructuralPart, syntax: AnswerSyntax | undefined): StructuralPart {
  const { thinking = 'never' } = syntax ?? {};
  if (thinking === 'never') return format;
  const marks = marksOf(syntax);
  const begin = thinking === 'begun' ? '' : marks.begin;
  const thought: StructuralPart = {
    type: 'sequence',
    elements: [
      { type: 'tag', begin, content: THINKING, end: marks.end },
      { type: 'const_string', value: marks.after },
    ],
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
  }
}
