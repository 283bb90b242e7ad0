import { parseJson } from '../../platform/parse-json.ts';
import { isRecord } from '../../platform/is-record.ts';
import type { ToolCall } from '../../protocol/answers.ts';
import { readCells, textOfCell, writeCells, type JobCells } from '../../protocol/job-cells.ts';
import type { JobInfo, JobResult } from '../../protocol/jobs.ts';
import {
  chatLogprobs,
  completionLogprobs,
  lengthOf,
  PART_OF_CHARACTER,
  type NamedOutputToken,
} from '../../protocol/openai/logprobs.ts';
import type { CsvOptions, JobRow } from './types.ts';

/** Writes the rows of a job as lines of a file. */
export interface RowWriter {
  /** The line of column names; empty where there is none. */
  readonly head: string;
  line(row: JobRow): string;
}

export function createWriter(info: JobInfo, format: 'csv' | 'jsonl', options: CsvOptions): RowWriter {
  if (format === 'csv') return createCsvWriter(info, options);
  const write = info.source === 'requests' ? outputLine : plainLine;
  return { head: '', line: (row) => (row.result ? `${write(info, row, row.result)}\n` : '') };
}

/** A column that we add, and its cell. */
type Output = readonly [name: string, cellOf: (result: JobResult, answer: JobCells) => string | undefined];

function createCsvWriter(info: JobInfo, options: CsvOptions): RowWriter {
  const inputs = info.source === 'requests' ? ['custom_id'] : info.columns;
  const fields = propertiesOf(info.options['responseFormat']);
  const outputs: readonly Output[] = [
    info.deployment === 'embedder'
      ? ['embedding', ({ embedding }) => jsonOf(embedding)]
      : ['result', ({ text }) => text],
    ...fields.map((name): Output => [name, (_, answer) => textOf(answer.get(name))]),
    ...(info.options['logprobs'] === undefined ? [] : [isOfChoices(info) ? PROBABILITIES : LOGPROBS]),
    ...('tools' in info.options ? [TOOL_CALLS] : []),
    ['error', ({ error }) => error && `${error.code}: ${error.message}`],
  ];
  const taken = new Set(inputs);
  const names = outputs.map(([name]) => freeName(name, taken));
  return {
    head: `${options.byteOrderMark ? BYTE_ORDER_MARK : ''}${csvLine([...inputs, ...names], options)}`,
    line: ({ json, result }) => {
      const cells = readCells(json);
      const answer = (fields.length > 0 && readCells(result?.text ?? '')) || new Map();
      return csvLine(
        [
          ...inputs.map((name) => textOf(cells?.get(name))),
          ...outputs.map(([, cellOf]) => (result ? cellOf(result, answer) : undefined)),
        ],
        options,
      );
    },
  };
}

const PROBABILITIES: Output = [
  'choiceProbabilities',
  ({ choiceProbabilities }) => jsonOf(choiceProbabilities),
];
const LOGPROBS: Output = ['logprobs', ({ logprobs }) => jsonOf(logprobs)];
const TOOL_CALLS: Output = ['toolCalls', ({ toolCalls }) => jsonOf(toolCalls)];

function isOfChoices({ options }: JobInfo): boolean {
  const format = options['responseFormat'];
  return isRecord(format) && format['type'] === 'choice';
}

/** The name, with as many `_` behind it as keep it apart from those that are taken, to which it is added. */
function freeName(name: string, taken: Set<string>): string {
  let free = name;
  while (taken.has(free)) free += '_';
  taken.add(free);
  return free;
}

/** The names of a JSON Schema's properties, which become columns. */
function propertiesOf(format: unknown): readonly string[] {
  const schema = isRecord(format) ? format['schema'] : undefined;
  const properties = isRecord(schema) ? schema['properties'] : undefined;
  return isRecord(properties) ? Object.keys(properties) : [];
}

function textOf(cell: string | undefined): string | undefined {
  return cell === undefined ? undefined : textOfCell(cell);
}

function jsonOf(value: unknown): string | undefined {
  return value === undefined ? undefined : JSON.stringify(value);
}

/** The row as it was given, and what came of it. */
function plainLine({ columns }: JobInfo, { json }: JobRow, result: JobResult): string {
  const cells = [...(readCells(json) ?? [])];
  const taken = new Set([...columns, ...cells.map(([name]) => name)]);
  const { error, text, embedding, choiceProbabilities, logprobs, toolCalls } = result;
  const outputs = error ? { error } : { result: text ?? embedding, choiceProbabilities, logprobs, toolCalls };
  for (const [name, value] of Object.entries(outputs)) {
    const cell = jsonOf(value);
    if (cell !== undefined) cells.push([freeName(name, taken), cell]);
  }
  return writeCells(cells);
}

/** A line of OpenAI's output file. */
function outputLine({ id: jobId, model }: JobInfo, { index, json }: JobRow, result: JobResult): string {
  const input = parseJson(json);
  const { custom_id, url } = isRecord(input) ? input : {};
  const id = `${jobId}-${index}`;
  const line = { id, custom_id };
  const { error } = result;
  if (error)
    return JSON.stringify({ ...line, response: null, error: { code: error.code, message: error.message } });
  const body = { id, model, ...bodyOf(url, result), usage: usageOf(result) };
  return JSON.stringify({ ...line, response: { status_code: 200, request_id: id, body }, error: null });
}

function bodyOf(
  url: unknown,
  { choices = [], embedding, embeddings = embedding ? [embedding] : [] }: JobResult,
): object {
  if (url === '/v1/embeddings') {
    const data = embeddings.map((each, index) => ({ object: 'embedding', index, embedding: each }));
    return { object: 'list', data };
  }
  const isChat = url === '/v1/chat/completions';
  return {
    object: isChat ? 'chat.completion' : 'text_completion',
    choices: choices.map(({ text, finishReason, answer, logprobs }, index) => {
      const calls = answer?.toolCalls ?? [];
      const hasCalls = calls.length > 0;
      if (!isChat)
        return {
          index,
          text,
          ...(logprobs && { logprobs: completionLogprobs(logprobs, placesIn(text, logprobs)) }),
          finish_reason: finishReason,
        };
      const toolCalls = calls.map(({ id, ...called }) => ({ id, type: 'function', function: called }));
      const message = {
        role: 'assistant',
        content: answer?.content ?? text,
        ...(hasCalls && { tool_calls: toolCalls }),
      };
      return {
        index,
        message,
        ...(logprobs && { logprobs: chatLogprobs(logprobs) }),
        finish_reason: finishReason === 'stop' && isWhole(calls.at(-1)) ? 'tool_calls' : finishReason,
      };
    }),
  };
}

/** Whether there is a call that no limit and no stop string has cut. */
function isWhole(call: ToolCall | undefined): boolean {
  return call !== undefined && (call.arguments === '' || parseJson(call.arguments) !== undefined);
}

/** Where tokens begin in their text, in code points: those of split characters where the first of these does. */
function placesIn(text: string, tokens: readonly NamedOutputToken[]): readonly number[] {
  let [at, place] = [0, 0];
  let isBehindPart = false;
  return tokens.map(({ text: own }) => {
    const [whole = '', ...parts] = own.split(PART_OF_CHARACTER);
    // How long split characters are, the next whole one says.
    const next = isBehindPart && whole !== '' ? Math.max(at, text.indexOf(whole, at)) : at;
    place += lengthOf(text.slice(at, next));
    const begin = place;
    place += lengthOf(whole);
    at = next + whole.length;
    isBehindPart = parts.length > 0 || (isBehindPart && whole === '');
    return begin;
  });
}

function usageOf({ numPromptTokens, numOutputTokens }: JobResult): object {
  return {
    prompt_tokens: numPromptTokens,
    completion_tokens: numOutputTokens,
    total_tokens: numPromptTokens + numOutputTokens,
  };
}

/** Tells Excel that the file is UTF-8. */
const BYTE_ORDER_MARK = '\uFEFF';

/** With these at its beginning, a spreadsheet runs a cell as a formula. */
const FORMULA = /^[=+\-@\t\r＝＋－＠]/;

const NUMBER = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/;

/** A line of RFC 4180. */
function csvLine(texts: readonly (string | undefined)[], { escapeFormulas = true }: CsvOptions): string {
  const cells = texts.map((text = '') => quoted(escapeFormulas ? withoutFormula(text) : text));
  return `${cells.join(',')}\r\n`;
}

function withoutFormula(text: string): string {
  return FORMULA.test(text) && !NUMBER.test(text) ? `'${text}` : text;
}

function quoted(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
