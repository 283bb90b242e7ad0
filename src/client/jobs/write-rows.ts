import { parseJson } from '../../platform/parse-json.ts';
import { isRecord } from '../../platform/is-record.ts';
import type { JobInfo, JobResult, JobRow } from '../../protocol/jobs.ts';

/** Writes the rows of a job as lines of a file. */
export interface RowWriter {
  /** The line of column names; empty where there is none. */
  readonly head: string;
  line(row: JobRow): string;
}

export function createWriter(info: JobInfo, format: 'csv' | 'jsonl'): RowWriter {
  if (format === 'csv') return createCsvWriter(info);
  const toRecord = info.source === 'requests' ? toOutputLine : toPlainRecord;
  return {
    head: '',
    line: (row) => (row.result ? `${JSON.stringify(toRecord(info, row, row.result))}\n` : ''),
  };
}

/** RFC 4180. */
function createCsvWriter({ source, deployment, columns, options }: JobInfo): RowWriter {
  const inputs = source === 'requests' ? ['custom_id'] : columns;
  const fields = propertiesOf(options['responseFormat']);
  const outputs = [deployment === 'embedder' ? 'embedding' : 'result', ...fields, 'error'];
  const names = outputs.map((name) => (inputs.includes(name) ? `${name}_` : name));
  return {
    head: csvLine([...inputs, ...names]),
    line: ({ input, result }) => {
      const answer = fields.length > 0 ? parseJson(result?.text) : undefined;
      return csvLine([
        ...inputs.map((name) => input[name]),
        result?.text ?? result?.embedding,
        ...fields.map((name) => (isRecord(answer) ? answer[name] : undefined)),
        result?.error && `${result.error.code}: ${result.error.message}`,
      ]);
    },
  };
}

/** The names of a JSON Schema's properties, which become columns. */
function propertiesOf(format: unknown): readonly string[] {
  const schema = isRecord(format) ? format['schema'] : undefined;
  const properties = isRecord(schema) ? schema['properties'] : undefined;
  return isRecord(properties) ? Object.keys(properties) : [];
}

function csvLine(values: readonly unknown[]): string {
  return `${values.map(csvField).join(',')}\r\n`;
}

function csvField(value: unknown): string {
  if (value === undefined || value === null) return '';
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function toPlainRecord(_: JobInfo, { input }: JobRow, { text, embedding, error }: JobResult): object {
  return { ...input, ...(error ? { error } : { result: text ?? embedding }) };
}

/** A line of OpenAI's output file. */
function toOutputLine({ id: jobId, model }: JobInfo, { index, input }: JobRow, result: JobResult): object {
  const id = `${jobId}-${index}`;
  const line = { id, custom_id: input['custom_id'] };
  const { error } = result;
  if (error) return { ...line, response: null, error: { code: error.code, message: error.message } };
  const body = { id, model, ...bodyOf(input['url'], result), usage: usageOf(result) };
  return { ...line, response: { status_code: 200, request_id: id, body }, error: null };
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
    choices: choices.map(({ text, finishReason, answer }, index) => {
      const calls = answer?.toolCalls ?? [];
      const hasCalls = calls.length > 0;
      if (!isChat) return { index, text, finish_reason: finishReason };
      const toolCalls = calls.map(({ id, ...called }) => ({ id, type: 'function', function: called }));
      const message = {
        role: 'assistant',
        content: answer?.content ?? text,
        ...(hasCalls && { tool_calls: toolCalls }),
      };
      return { index, message, finish_reason: hasCalls ? 'tool_calls' : finishReason };
    }),
  };
}

function usageOf({ numPromptTokens, numOutputTokens }: JobResult): object {
  return {
    prompt_tokens: numPromptTokens,
    completion_tokens: numOutputTokens,
    total_tokens: numPromptTokens + numOutputTokens,
  };
}
