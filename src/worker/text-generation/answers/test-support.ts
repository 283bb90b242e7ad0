import type { GenerationTool } from '../../../batching/options/tools.ts';
import { toolSyntaxOf, type ToolSyntax } from './tool-syntax.ts';

export interface Call {
  readonly name: string;
  readonly input: Readonly<Record<string, unknown>>;
}

interface Family {
  readonly family: string;
  /** What its template has in it. */
  readonly template: string;
  /** A token that its tokenizer has, where the template doesn't name it. */
  readonly token?: string;
  /** Calls as its models write them, here by hand. */
  readonly write: (calls: readonly Call[]) => string;
}

const jsonCall = ({ name, input }: Call): string =>
  `{"name": "${name}", "arguments": ${JSON.stringify(input)}}`;
const eachOf =
  (write: (call: Call) => string, separator = ''): Family['write'] =>
  (calls) =>
    calls.map(write).join(separator);
const listOf =
  (begin: string, write: (call: Call) => string, end: string): Family['write'] =>
  (calls) =>
    `${begin}${calls.map(write).join(', ')}${end}`;

export const FAMILIES: readonly Family[] = [
  {
    family: 'Qwen 3',
    template: '<tool_call>',
    write: eachOf((call) => `<tool_call>\n${jsonCall(call)}\n</tool_call>`, '\n'),
  },
  {
    family: 'Qwen 3.5',
    template: '<tool_call>\n<function=name>',
    write: eachOf((call) => `<tool_call>\n${writeXml(call)}\n</tool_call>`, '\n'),
  },
  {
    family: 'Llama 3',
    template: '{"name": function name, "parameters": dictionary}',
    write: eachOf(({ name, input }) => `{"name": "${name}", "parameters": ${JSON.stringify(input)}}`, '\n'),
  },
  {
    family: 'Ministral 3',
    template: '[TOOL_CALLS] [ARGS]',
    write: eachOf(({ name, input }) => `[TOOL_CALLS]${name}[ARGS]${JSON.stringify(input)}`),
  },
  {
    family: 'Mistral 7B',
    template: '"[TOOL_CALLS] ["',
    write: listOf('[TOOL_CALLS] [', jsonCall, ']'),
  },
  {
    family: 'Granite 3',
    template: '<|start_of_role|>',
    token: '<|tool_call|>',
    write: listOf('<|tool_call|>[', jsonCall, ']'),
  },
  {
    family: 'LFM2',
    template: 'List of tools: [',
    token: '<|tool_call_start|>',
    write: listOf('<|tool_call_start|>[', writePython, ']<|tool_call_end|>'),
  },
  {
    family: 'OLMo 3',
    template: '<function_calls>',
    write: (calls) => `<function_calls>${calls.map(writeKeywords).join('\n')}</function_calls>`,
  },
  {
    family: 'FunctionGemma',
    template: '<start_function_call>',
    write: eachOf(
      ({ name, input }) => `<start_function_call>call:${name}${gemmaValue(input)}<end_function_call>`,
    ),
  },
];

/** @throws Error for a family without tools. */
export function syntaxOf({ template, token }: Pick<Family, 'template' | 'token'>): ToolSyntax {
  const syntax = toolSyntaxOf(`{{ tools }} ${template}`, (text) => text === token);
  if (!syntax) throw new Error(`no tools in ${template}`);
  return syntax;
}

/** Tools with the types of what they are called with. */
export function toolsOf(calls: readonly Call[]): readonly GenerationTool[] {
  return calls.map(({ name, input }) => {
    const properties = Object.entries(input).map(([key, value]) => [key, { type: typeOf(value) }] as const);
    return { name, parameters: { type: 'object', properties: Object.fromEntries(properties) } };
  });
}

function typeOf(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}

function writeXml({ name, input }: Call): string {
  const parameters = Object.entries(input).map(([key, value]) => {
    const text = typeof value === 'string' ? value : JSON.stringify(value);
    return `<parameter=${key}>\n${text}\n</parameter>\n`;
  });
  return `<function=${name}>\n${parameters.join('')}</function>`;
}

function writePython({ name, input }: Call): string {
  const values = Object.entries(input).map(([key, value]) => `${key}=${pythonValue(value)}`);
  return `${name}(${values.join(', ')})`;
}

function writeKeywords({ name, input }: Call): string {
  const values = Object.entries(input).map(([key, value]) => `${key}=${JSON.stringify(value)}`);
  return `${name}(${values.join(', ')})`;
}

function pythonValue(value: unknown): string {
  if (value === null) return 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (typeof value === 'string')
    return value.includes("'")
      ? JSON.stringify(value)
      : `'${value.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')}'`;
  if (Array.isArray(value)) return `[${value.map(pythonValue).join(', ')}]`;
  if (typeof value !== 'object') return JSON.stringify(value);
  const entries = Object.entries(value);
  return `{${entries.map(([key, inner]) => `'${key}': ${pythonValue(inner)}`).join(', ')}}`;
}

function gemmaValue(value: unknown): string {
  if (typeof value === 'string') return `<escape>${value}<escape>`;
  if (Array.isArray(value)) return `[${value.map(gemmaValue).join(',')}]`;
  if (typeof value !== 'object' || value === null) return String(value);
  const entries = Object.entries(value);
  return `{${entries.map(([key, inner]) => `${key}:${gemmaValue(inner)}`).join(',')}}`;
}
