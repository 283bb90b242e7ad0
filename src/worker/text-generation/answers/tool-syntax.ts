import type { StructuralPart } from '../../../batching/options/response-format.ts';
import { schemaOf, type GenerationTool } from '../../../batching/options/tools.ts';
import {
  KEYWORD_JSON_STYLE,
  PYTHON_STYLE,
  styledArguments,
  XML_STYLE,
  type ArgumentsPlace,
} from './argument-shapes.ts';
import { GEMMA_CALL, NAMED_JSON, PYTHON_CALL, XML_CALL, type CallKind } from './call-heads.ts';
import { functionGemmaGrammar } from './function-gemma.ts';
import { JSON_CALL } from './json-call.ts';

/** How models of one family write calls of tools. */
export interface ToolSyntax {
  /** Whether a chat template is one of this family's, or its tokenizer has the family's tokens. */
  readonly isIn: (template: string, isToken: (text: string) => boolean) => boolean;
  /** Text before calls. */
  readonly opening: string;
  /** How a call begins that some models write without the opening. */
  readonly bareBegin: string | undefined;
  /** Only what names a tool of the request is a call: text may have the bare beginning. */
  readonly isBare: boolean;
  /** Behind the opening comes one call, or a list of them in brackets. */
  readonly mayBeList: boolean;
  /** More calls may follow behind one, each on a line. */
  readonly mayBeLines: boolean;
  /** A mark that models write between two calls. */
  readonly between?: string;
  readonly kinds: readonly CallKind[];
  /** Text after calls; it may be missing. */
  readonly close: string;
  /** Whether a call ends the thinking before it. Others may write about calls in their thoughts. */
  readonly endsThinking: boolean;
  /** Tokens that are part of the text, also where the tokenizer calls them special. */
  readonly tokens: readonly string[];
  /** How calls have to be written. */
  readonly written: WrittenCalls;
  /** The form of a call's id, if the template requires one. */
  readonly idLength?: number;
}

/** A call is `begin`, its name, `middle`, its arguments, `end`. */
export interface WrittenCalls {
  /** Each free text that has one of these goes on as a call. */
  readonly begins: readonly { readonly trigger: string; readonly text: string }[];
  readonly middle: string;
  readonly end: string;
  /** Between two calls; undefined where the template takes one call in a message. */
  readonly separator: string | undefined;
  /** Around the calls of a list, whose `begin` stands before each of them. */
  readonly list?: { readonly begin: string; readonly end: string };
  readonly argumentsOf: (tool: GenerationTool, place: ArgumentsPlace) => StructuralPart;
}

function jsonArguments(tool: GenerationTool, { option, noteOrigin }: ArgumentsPlace): StructuralPart {
  const part: StructuralPart = { type: 'json_schema', json_schema: schemaOf(tool) };
  noteOrigin(part, option);
  return part;
}

const HERMES = {
  opening: '<tool_call>',
  bareBegin: undefined,
  isBare: false,
  mayBeList: false,
  mayBeLines: false,
  kinds: [JSON_CALL],
  close: '</tool_call>',
  endsThinking: true,
  tokens: ['<tool_call>', '</tool_call>'],
};
const MISTRAL = {
  ...HERMES,
  opening: '[TOOL_CALLS]',
  mayBeList: true,
  kinds: [JSON_CALL, NAMED_JSON],
  close: '',
  endsThinking: false,
  tokens: ['[TOOL_CALLS]', '[ARGS]', '[CALL_ID]'],
  idLength: 9,
};
const LISTED_JSON = {
  middle: '", "arguments": ',
  end: '}',
  separator: ', ',
  argumentsOf: jsonArguments,
};

/** The first that fits counts. */
const SYNTAXES: readonly ToolSyntax[] = [
  // Qwen 2.5 and 3, Granite 4, SmolLM3 and others in the style of Hermes.
  {
    ...HERMES,
    isIn: (template) => template.includes('<tool_call>') && !template.includes('<function='),
    mayBeLines: true,
    written: {
      begins: [{ trigger: '<tool_call>', text: '<tool_call>\n{"name": "' }],
      middle: '", "arguments": ',
      end: '}\n</tool_call>',
      separator: '\n',
      argumentsOf: jsonArguments,
    },
  },
  // Qwen 3 Coder and 3.5.
  {
    ...HERMES,
    isIn: (template) => template.includes('<function='),
    bareBegin: '<function=',
    kinds: [XML_CALL],
    written: {
      begins: [
        { trigger: '<tool_call>', text: '<tool_call>\n<function=' },
        { trigger: '<function=', text: '<function=' },
      ],
      middle: '>\n',
      end: '</function>\n</tool_call>',
      separator: '\n',
      argumentsOf: (tool, place) => styledArguments(tool, place, XML_STYLE),
    },
  },
  // Llama 3.1 to 3.3.
  {
    ...HERMES,
    isIn: (template) => template.includes('{"name": function name, "parameters": '),
    opening: '<|python_tag|>',
    bareBegin: '{',
    isBare: true,
    between: ';',
    close: '',
    tokens: ['<|python_tag|>'],
    written: {
      begins: [
        { trigger: '{"name": "', text: '{"name": "' },
        { trigger: '<|python_tag|>', text: '<|python_tag|>{"name": "' },
      ],
      middle: '", "parameters": ',
      end: '}',
      separator: undefined,
      argumentsOf: jsonArguments,
    },
  },
  // Mistral Small 3.1 and later, Ministral 3, Magistral and Devstral.
  {
    ...MISTRAL,
    isIn: (template) => template.includes('[ARGS]'),
    written: {
      begins: [{ trigger: '[TOOL_CALLS]', text: '[TOOL_CALLS]' }],
      middle: '[ARGS]',
      end: '',
      separator: '',
      argumentsOf: jsonArguments,
    },
  },
  // Mistral 7B 0.3 and Nemo, of which the first has a space behind its mark.
  ...['[TOOL_CALLS] [', '[TOOL_CALLS]['].map((begin) => ({
    ...MISTRAL,
    isIn: (template: string) => template.includes(begin),
    written: {
      begins: [{ trigger: '[TOOL_CALLS]', text: '{"name": "' }],
      list: { begin, end: ']' },
      ...LISTED_JSON,
    },
  })),
  // Granite 3.
  {
    ...HERMES,
    isIn: (template, isToken) => template.includes('<|start_of_role|>') && isToken('<|tool_call|>'),
    opening: '<|tool_call|>',
    mayBeList: true,
    close: '',
    tokens: ['<|tool_call|>'],
    written: {
      begins: [{ trigger: '<|tool_call|>', text: '{"name": "' }],
      list: { begin: '<|tool_call|>[', end: ']' },
      ...LISTED_JSON,
    },
  },
  // LFM2 and LFM2.5, whose templates don't all name the marks.
  {
    ...HERMES,
    isIn: (template, isToken) => template.includes('<|tool_call_start|>') || isToken('<|tool_call_start|>'),
    opening: '<|tool_call_start|>',
    mayBeList: true,
    kinds: [PYTHON_CALL, JSON_CALL],
    close: '<|tool_call_end|>',
    tokens: ['<|tool_call_start|>', '<|tool_call_end|>'],
    written: {
      begins: [{ trigger: '<|tool_call_start|>', text: '' }],
      list: { begin: '<|tool_call_start|>[', end: ']<|tool_call_end|>' },
      middle: '(',
      end: ')',
      separator: ', ',
      argumentsOf: (tool, place) => styledArguments(tool, place, PYTHON_STYLE),
    },
  },
  // OLMo 3.
  {
    ...HERMES,
    isIn: (template) => template.includes('<function_calls>'),
    opening: '<function_calls>',
    mayBeLines: true,
    kinds: [PYTHON_CALL],
    close: '</function_calls>',
    tokens: ['<function_calls>', '</function_calls>'],
    written: {
      begins: [{ trigger: '<function_calls>', text: '' }],
      list: { begin: '<function_calls>', end: '</function_calls>' },
      middle: '(',
      end: ')',
      separator: '\n',
      argumentsOf: (tool, place) => styledArguments(tool, place, KEYWORD_JSON_STYLE),
    },
  },
  // FunctionGemma.
  {
    ...HERMES,
    isIn: (template) => template.includes('<start_function_call>'),
    opening: '<start_function_call>',
    kinds: [GEMMA_CALL],
    close: '<end_function_call>',
    tokens: ['<start_function_call>', '<end_function_call>', '<escape>'],
    written: {
      begins: [{ trigger: '<start_function_call>', text: '<start_function_call>call:' }],
      middle: '',
      end: '<end_function_call>',
      separator: '',
      argumentsOf: (tool, { option, noteOrigin }) => {
        const part: StructuralPart = {
          type: 'grammar',
          grammar: functionGemmaGrammar(schemaOf(tool), option),
        };
        noteOrigin(part, option);
        return part;
      },
    },
  },
];

/**
 * Undefined for a template that takes no tools, or whose calls have another form.
 *
 * @param isToken Whether the tokenizer has a text as one token.
 */
export function toolSyntaxOf(template: string, isToken: (text: string) => boolean): ToolSyntax | undefined {
  return /\btools\b/.test(template) ? SYNTAXES.find(({ isIn }) => isIn(template, isToken)) : undefined;
}
