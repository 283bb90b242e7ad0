import type { StructuralPart } from '../../../batching/generation/response-format.ts';
import { schemaOf, type GenerationTool } from '../../../batching/generation/tools.ts';
import type { ArgumentsReader } from './arguments-reader.ts';
import { FunctionGemmaArguments, functionGemmaGrammar } from './function-gemma.ts';
import { JsonArguments } from './json-arguments.ts';

/** How models of one family write a call of a tool: `begin`, its name, `middle`, its arguments, `end`. */
export interface ToolSyntax {
  /** Whether a chat template is one of this family's. */
  readonly isIn: (template: string) => boolean;
  /** The first part of `begin`, which free text doesn't have. */
  readonly trigger: string;
  readonly begin: string;
  readonly middle: string;
  readonly end: string;
  /** Between two calls; undefined where the template takes one call in a message. */
  readonly separator: string | undefined;
  /** @param option Names the parameters in errors. @throws ResponseFormatUnsupportedError. */
  readonly argumentsOf: (tool: GenerationTool, option: string) => StructuralPart;
  readonly createReader: () => ArgumentsReader;
}

const JSON_SYNTAX = {
  argumentsOf: (tool: GenerationTool): StructuralPart => ({
    type: 'json_schema',
    json_schema: schemaOf(tool),
  }),
  createReader: () => new JsonArguments(),
};

const SYNTAXES: readonly ToolSyntax[] = [
  // Qwen 2.5 and 3, and other models in the style of Hermes. Qwen 3 Coder and 3.5 have XML in the same marks.
  {
    isIn: (template) => template.includes('<tool_call>') && !template.includes('<function='),
    trigger: '<tool_call>',
    begin: '<tool_call>\n{"name": "',
    middle: '", "arguments": ',
    end: '}\n</tool_call>',
    separator: '\n',
    ...JSON_SYNTAX,
  },
  // Llama 3.1 to 3.3.
  {
    isIn: (template) => template.includes('{"name": function name, "parameters": '),
    trigger: '{"name": "',
    begin: '{"name": "',
    middle: '", "parameters": ',
    end: '}',
    separator: undefined,
    ...JSON_SYNTAX,
  },
  {
    isIn: (template) => template.includes('<start_function_call>'),
    trigger: '<start_function_call>',
    begin: '<start_function_call>call:',
    middle: '',
    end: '<end_function_call>',
    separator: '',
    argumentsOf: (tool, option) => ({
      type: 'grammar',
      grammar: functionGemmaGrammar(schemaOf(tool), option),
    }),
    createReader: () => new FunctionGemmaArguments(),
  },
];

/** Undefined for a template that takes no tools, or whose calls have another form. */
export function toolSyntaxOf(template: string): ToolSyntax | undefined {
  return /\btools\b/.test(template) ? SYNTAXES.find(({ isIn }) => isIn(template)) : undefined;
}
