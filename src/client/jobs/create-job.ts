import { InvalidOptionError } from '../../batching/base/errors.ts';
import type { CheckedGenerationOptions } from '../../batching/options/generation-options.ts';
import { OPTION_CHECKS } from '../../batching/options/option-checks.ts';
import { parseOptions } from '../../batching/base/validate.ts';
import { isRecord } from '../../platform/is-record.ts';
import { parseJson } from '../../platform/parse-json.ts';
import { randomSeed } from '../../platform/random-seed.ts';
import { SEED_OF_FILE } from '../../jobs/row-rules.ts';
import { EMBEDDER } from '../../protocol/embedding.ts';
import { JobRowError } from '../../protocol/errors/jobs.ts';
import { TEXT_GENERATOR, type GenerationOptions } from '../../protocol/generation.ts';
import { createId } from '../../protocol/ids.ts';
import { readCells } from '../../protocol/job-cells.ts';
import { missingColumn } from '../../protocol/job-template.ts';
import { MAX_ROWS_PER_CALL, type JobDefinition } from '../../protocol/jobs.ts';
import type { Ask } from '../links/calls.ts';
import { checkJob } from './check-job.ts';
import type {
  CreateJobOptions,
  EmbedJobOptions,
  JobSource,
  RequestJobOptions,
  TextJobOptions,
} from './types.ts';
import {
  jobValueNotJson,
  missingJobColumn,
  noJobRows,
  sameCustomId,
  wrongJobRow,
} from '../../protocol/errors/job-messages.ts';

/** Characters of the rows that go to the worker at once. */
const MAX_CALL_LENGTH = 2 ** 20;

/**
 * Stores the rows of a job, and starts it. Returns its ID. See `Jobs.create`.
 *
 * @param isChatModel Whether the current model has a chat template.
 */
export async function createJob(options: CreateJobOptions, ask: Ask, isChatModel: boolean): Promise<string> {
  checkJob(options);
  const { signal, onStored } = options;
  const rows = textsOf(sourceOf(options), hasRequests(options) ? 'requests' : 'rows');
  const first = await rows.next();
  if (first.done) throw noJobRows();
  const job = describe(options, first.value, isChatModel);
  const jobName = options.name ?? `Job ${job.createdAt.slice(0, 16).replace('T', ' ')}`;
  signal?.throwIfAborted();
  await ask({ type: 'create-job', job, jobName });
  try {
    await storeRows(job, withFirst(first.value, rows), ask, (numRows) => {
      signal?.throwIfAborted();
      onStored?.(numRows);
    });
    await ask({ type: 'start-job', jobId: job.id });
  } catch (error) {
    await ask({ type: 'steer-job', jobId: job.id, action: 'delete' }).catch(() => {});
    throw error;
  }
  return job.id;
}

function sourceOf(options: CreateJobOptions): JobSource<unknown> {
  return hasRequests(options) ? options.requests : options.rows;
}

function hasRequests(options: CreateJobOptions): options is RequestJobOptions {
  return 'requests' in options && options.requests !== undefined;
}

function describe(options: CreateJobOptions, first: string, isChatModel: boolean): JobDefinition {
  const now = Date.now();
  const common = {
    id: `${now.toString(36).padStart(9, '0')}-${createId().slice(0, 12)}`,
    createdAt: new Date(now).toISOString(),
    seed: checkSeed(options.seed) ?? (hasRequests(options) ? SEED_OF_FILE : randomSeed()),
  };
  const columns = [...(readCells(first)?.keys() ?? [])];
  if (hasRequests(options)) {
    const isEmbedding = textIn(first, 'url')?.includes('embed');
    const deployment = isEmbedding ? EMBEDDER : TEXT_GENERATOR;
    return { ...common, source: 'requests', deployment, isChat: false, options: {}, columns: [] };
  }
  const { template } = options;
  checkColumns(template, columns);
  const table = { ...common, source: 'rows', template, columns } as const;
  return options.deployment === EMBEDDER
    ? { ...table, deployment: EMBEDDER, isChat: false, options: withoutUndefined(options.options) }
    : { ...table, ...describeText(options, columns, isChatModel) };
}

function describeText(
  { system, options = {}, responseFormat, chat, seed }: TextJobOptions,
  columns: readonly string[],
  isChatModel: boolean,
) {
  if (system !== undefined) checkColumns(system, columns);
  const given: GenerationOptions = { ...options, ...(responseFormat && { responseFormat }) };
  const { seed: ownSeed, ...checked } = parseOptions<CheckedGenerationOptions>(
    'options',
    OPTION_CHECKS,
    given,
  );
  for (const name of ['n', 'echo', 'promptLogprobs'] as const)
    if (checked[name] !== undefined)
      throw InvalidOptionError.of(name, 'left out: it is not for jobs', checked[name]);
  return {
    deployment: TEXT_GENERATOR,
    ...(system !== undefined && { system }),
    isChat: chat ?? (system !== undefined || isChatModel),
    options: withoutUndefined(checked),
    ...(seed === undefined && typeof ownSeed === 'number' && { seed: checkSeed(ownSeed) }),
  } as const;
}

function checkColumns(template: string, known: readonly string[]): void {
  const missing = missingColumn(template, known);
  if (missing !== undefined) throw missingJobColumn(missing, known);
}

function checkSeed<Seed extends number | undefined>(seed: Seed): Seed {
  if (seed === undefined || (Number.isInteger(seed) && seed >= 0 && seed < 2 ** 32)) return seed;
  throw InvalidOptionError.of('seed', 'an integer from 0 to 4294967295', seed);
}

/** Sends rows in pieces, so that neither tab nor worker holds them all. */
async function storeRows(
  { id: jobId, source }: JobDefinition,
  rows: AsyncIterable<string>,
  ask: Ask,
  onStored: (numRows: number) => void,
): Promise<void> {
  const customIds = new Set<string>();
  let [from, length]: [number, number] = [0, 0];
  let piece: string[] = [];
  const send = async (): Promise<void> => {
    await ask({ type: 'add-job-rows', jobId, from, rows: piece });
    from += piece.length;
    onStored(from);
    [piece, length] = [[], 0];
  };
  for await (const text of rows) {
    if (source === 'requests') addNew(customIds, textIn(text, 'custom_id'));
    piece.push(text);
    length += text.length;
    if (length >= MAX_CALL_LENGTH || piece.length === MAX_ROWS_PER_CALL) await send();
  }
  if (piece.length > 0) await send();
}

/** @throws JobRowError. */
function addNew(customIds: Set<string>, customId: string | undefined): void {
  if (customId === undefined) return;
  if (customIds.has(customId)) throw sameCustomId(customId);
  customIds.add(customId);
}

/** The value of a field; undefined if it is no text. */
function textIn(row: string, field: string): string | undefined {
  const value: unknown = parseJson(readCells(row)?.get(field));
  return typeof value === 'string' ? value : undefined;
}

/** @throws JobRowError for an entry that is no JSON object. */
async function* textsOf(source: JobSource<unknown>, name: string): AsyncGenerator<string, void, undefined> {
  let index = 0;
  for await (const row of source) {
    const place = `${name}[${index}]`;
    const json = typeof row === 'string' ? row : writeJson(row, place);
    if (json === undefined || !isRecord(parseJson(json)))
      throw wrongJobRow(place, 'an object of JSON values, or the text of one');
    yield json;
    index += 1;
  }
}

/** Undefined for a row with a cycle. @throws JobRowError for a value that JSON would change or leave out. */
function writeJson(row: unknown, place: string): string | undefined {
  let column = '';
  try {
    return JSON.stringify(row, function check(this: unknown, key: string, value: unknown) {
      if (this === row) column = `.${key}`;
      // A date has become a text by now, and one without a time null.
      const given: unknown = Object(this)[key];
      const isTimeless = given instanceof Date && value === null;
      if (isOfJson(value) && !isTimeless) return value;
      throw jobValueNotJson(place + column, given);
    });
  } catch (error) {
    if (error instanceof JobRowError) throw error;
    return undefined;
  }
}

/** False for a Map or a typed array, of which JSON makes an empty or another object. */
function isOfJson(value: unknown): boolean {
  if (typeof value === 'number') return Number.isFinite(value);
  if (typeof value === 'object' && value !== null)
    return Array.isArray(value) || Object.prototype.toString.call(value) === '[object Object]';
  return !['bigint', 'function', 'symbol'].includes(typeof value);
}

async function* withFirst(first: string, others: AsyncIterable<string>): AsyncGenerator<string> {
  yield first;
  yield* others;
}

function withoutUndefined(
  options: EmbedJobOptions['options'] | CheckedGenerationOptions = {},
): Record<string, unknown> {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
}
