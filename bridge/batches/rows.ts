import { closeSync, openSync, readSync } from 'node:fs';
import * as v from 'valibot';

import { shown } from '../../src/batching/base/errors.ts';
import { isRecord } from '../../src/platform/is-record.ts';
import { MAX_PROMPT_LENGTH } from '../../src/protocol/wire.ts';
import { HttpError } from '../../src/protocol/openai/http-error.ts';
import { readJsonBytes } from '../http/read-body.ts';
import { readLines, type Line } from './read-lines.ts';

/** The endpoints that a batch may use. */
export const BATCH_URLS = ['/v1/completions', '/v1/chat/completions', '/v1/embeddings'] as const;

export type BatchUrl = (typeof BATCH_URLS)[number];

/** One request of a batch's file. */
export interface Row {
  /** From 0. Blank lines don't count. */
  readonly index: number;
  readonly customId: string;
  readonly url: BatchUrl;
  readonly body: Readonly<Record<string, unknown>>;
}

/** Why a line is not a row, as OpenAI's batches list it. */
export interface RowProblem {
  readonly code: string;
  readonly line: number;
  readonly message: string;
  readonly param: string | null;
}

/** The rows of a file. */
export interface CheckedRows {
  readonly total: number;
  /** The row of each `custom_id`. */
  readonly indexOf: ReadonlyMap<string, number>;
  /** The first of them. Rows are asked only if there is none. */
  readonly problems: readonly RowProblem[];
  /** Reads a row again, of so many bytes. */
  readonly read: (index: number) => { readonly row: Row; readonly length: number };
}

/** A file that is no JSONL at all has a problem in each line. */
const MAX_PROBLEMS = 100;

const MAX_ID_LENGTH = 512;

const rowShape = v.object({
  custom_id: v.pipe(
    v.string('a text'),
    v.nonEmpty('a text that is not empty'),
    v.maxLength(MAX_ID_LENGTH, `a text of at most ${MAX_ID_LENGTH} characters`),
  ),
  method: v.optional(v.literal('POST', 'POST'), 'POST'),
  url: v.string('the path of an endpoint'),
  body: v.custom<Readonly<Record<string, unknown>>>(isRecord, 'an object'),
});

class ProblemError extends Error {
  readonly code: string;
  readonly param: string | null;

  constructor(code: string, message: string, param: string | null = null) {
    super(message);
    this.code = code;
    this.param = param;
  }
}

/**
 * Reads the whole file once. Only the ids stay in memory, and where the rows are.
 *
 * @param urls The endpoints that rows may name.
 */
export async function checkRows(
  path: string,
  urls: readonly BatchUrl[],
  signal: AbortSignal,
): Promise<CheckedRows> {
  const indexOf = new Map<string, number>();
  const problems: RowProblem[] = [];
  const places: Pick<Line, 'offset' | 'length'>[] = [];
  for await (const line of linesOf(path)) {
    signal.throwIfAborted();
    const index = places.length;
    places.push({ offset: line.offset, length: line.length });
    try {
      const { customId } = readRow(line.bytes, index, urls);
      if (indexOf.has(customId)) throw duplicate(customId, indexOf.get(customId) ?? 0);
      indexOf.set(customId, index);
    } catch (error) {
      if (!(error instanceof ProblemError)) throw error;
      const { code, message, param } = error;
      problems.push({ code, line: line.number, message, param });
      if (problems.length === MAX_PROBLEMS) break;
    }
  }
  const total = places.length;
  if (total === 0)
    problems.push({ code: 'empty_file', line: 1, message: 'The file has no row.', param: null });
  const read = (index: number) => {
    const { offset, length } = places[index] ?? { offset: 0, length: 0 };
    return { row: readRow(readBytes(path, offset, length), index, urls), length };
  };
  return { total, indexOf, problems, read };
}

function readBytes(path: string, offset: number, length: number): Buffer {
  const bytes = Buffer.alloc(length);
  const file = openSync(path, 'r');
  try {
    readSync(file, bytes, 0, length, offset);
  } finally {
    closeSync(file);
  }
  return bytes;
}

async function* linesOf(path: string): AsyncGenerator<Line> {
  for await (const line of readLines(path, MAX_PROMPT_LENGTH))
    if (!line.bytes || line.bytes.toString().trim() !== '') yield line;
}

/** @throws ProblemError. */
function readRow(bytes: Buffer | undefined, index: number, urls: readonly BatchUrl[]): Row {
  if (!bytes) throw new ProblemError('line_too_large', `The line is larger than ${MAX_PROMPT_LENGTH} bytes.`);
  const given = parseLine(bytes);
  if (!isRecord(given)) throw new ProblemError('invalid_json_line', 'The line is not a JSON object.');
  const unknown = Object.keys(given).find((name) => !Object.hasOwn(rowShape.entries, name));
  if (unknown !== undefined) throw unknownField(unknown);
  const result = v.safeParse(rowShape, given, { abortEarly: true });
  if (!result.success) throw misshapen(result.issues[0]);
  const { custom_id: customId, url: asked, body } = result.output;
  const url = urls.find((known) => known === asked);
  if (url !== undefined) return { index, customId, url, body };
  const message = `Expected \`url\` to be ${urls.join(' or ')}, got \`${shown(asked)}\`.`;
  throw new ProblemError('invalid_url', message, 'url');
}

function parseLine(bytes: Buffer): unknown {
  try {
    return readJsonBytes(bytes, (reason) => HttpError.invalid('line', reason));
  } catch (error) {
    if (!(error instanceof HttpError)) throw error;
    throw new ProblemError('invalid_json_line', `Couldn't read the line as JSON: ${error.message}.`);
  }
}

function misshapen(issue: v.BaseIssue<unknown>): ProblemError {
  const param = v.getDotPath(issue) ?? '';
  const isMissing = issue.received === 'undefined';
  const expected = issue.type === 'object' ? 'given' : issue.message;
  const message = `Expected \`${param}\` to be ${expected}${isMissing ? ', got nothing' : ''}.`;
  return new ProblemError(isMissing ? 'missing_required_parameter' : `invalid_${param}`, message, param);
}

function unknownField(name: string): ProblemError {
  const { message } = HttpError.unknown(name, Object.keys(rowShape.entries));
  return new ProblemError('unknown_parameter', message, shown(name));
}

function duplicate(customId: string, index: number): ProblemError {
  const message = `The custom_id \`${shown(customId)}\` is that of row ${index + 1}, too: give each row its own.`;
  return new ProblemError('duplicate_custom_id', message, 'custom_id');
}
