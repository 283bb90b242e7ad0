import { InvalidOptionError } from '../../batching/base/errors.ts';
import type { CheckedGenerationOptions } from '../../batching/options/generation-options.ts';
import { OPTION_CHECKS } from '../../batching/options/option-checks.ts';
import { parseOptions } from '../../batching/base/parse-options.ts';
import { isRecord } from '../../platform/is-record.ts';
import { parseJson } from '../../platform/parse-json.ts';
import { randomSeed } from '../../platform/random-seed.ts';
import { untilAborted } from '../../platform/until-aborted.ts';
import { SEED_OF_FILE } from '../../jobs/row-rules.ts';
import { EMBEDDER } from '../../protocol/embedding.ts';
import { EMBEDDING_CHECKS } from '../../protocol/encoder-options.ts';
import { JobRowError } from '../../protocol/errors/jobs.ts';
import { TEXT_GENERATOR } from '../../protocol/generation.ts';
import { createId } from '../../protocol/ids.ts';
import { readCells } from '../../protocol/job-cells.ts';
import { missingColumn } from '../../protocol/job-template.ts';
import { MAX_ROWS_PER_CALL, type JobDefinition } from '../../protocol/jobs.ts';
import type { Ask } from '../links/calls.ts';
import { checkJob, isSeed, isSource } from './check-job.ts';
import type { CreateJobOptions, JobSource, RequestJobOptions } from './types.ts';
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
  const settings = readSettings(options);
  const { signal = new AbortController().signal, onStored } = options;
  signal.throwIfAborted();
  const rows = textsOf(sourceOf(options), hasRequests(options) ? 'requests' : 'rows', signal);
  try {
    const first = await rows.next();
    if (first.done) throw noJobRows();
    const job = describe(options, settings, first.value, isChatModel);
    const jobName = options.name ?? `Job ${job.createdAt.slice(0, 16).replace('T', ' ')}`;
    const draft = new JobDraft(job, ask, signal);
    await draft.store(jobName, withFirst(first.value, rows), onStored);
    return job.id;
  } finally {
    await rows.return();
  }
}

function sourceOf(options: CreateJobOptions): JobSource<unknown> {
  return hasRequests(options) ? options.requests : options.rows;
}

function hasRequests(options: CreateJobOptions): options is RequestJobOptions {
  return 'requests' in options && options.requests !== undefined;
}

/** What the options say without the rows. */
interface Settings {
  readonly seed: number | undefined;
  /** Options of every row. */
  readonly options: Readonly<Record<string, unknown>>;
}

/** @throws InvalidOptionError, UnknownOptionError. */
function readSettings(options: CreateJobOptions): Settings {
  const { seed } = options;
  if (hasRequests(options)) return { seed, options: {} };
  const { options: given = {} } = options;
  if (options.deployment === EMBEDDER)
    return { seed, options: parseOptions('options', EMBEDDING_CHECKS, given) };
  const { responseFormat } = options;
  const checked = parseOptions<CheckedGenerationOptions>('options', OPTION_CHECKS, given);
  for (const name of ['n', 'echo', 'promptLogprobs'] as const)
    if (checked[name] !== undefined)
      throw InvalidOptionError.of(name, 'left out: it is not for jobs', checked[name]);
  const { seed: ownSeed, ...ofRows } = {
    ...checked,
    ...(responseFormat !== undefined && {
      responseFormat: OPTION_CHECKS.responseFormat('responseFormat', responseFormat),
    }),
  };
  return {
    seed: seed ?? (ownSeed === undefined ? undefined : isSeed('seed', ownSeed)),
    options: Object.fromEntries(Object.entries(ofRows).filter(([, value]) => value !== undefined)),
  };
}

function describe(
  options: CreateJobOptions,
  { seed, options: ofRows }: Settings,
  first: string,
  isChatModel: boolean,
): JobDefinition {
  const now = Date.now();
  const common = {
    id: `${now.toString(36).padStart(9, '0')}-${createId().slice(0, 12)}`,
    createdAt: new Date(now).toISOString(),
    seed: seed ?? (hasRequests(options) ? SEED_OF_FILE : randomSeed()),
  };
  const columns = [...(readCells(first)?.keys() ?? [])];
  if (hasRequests(options)) {
    const isEmbedding = textIn(first, 'url')?.includes('embed');
    const deployment = isEmbedding ? EMBEDDER : TEXT_GENERATOR;
    return { ...common, source: 'requests', deployment, isChat: false, options: ofRows, columns: [] };
  }
  const { template } = options;
  checkColumns(template, columns);
  const table = { ...common, source: 'rows', template, columns, options: ofRows } as const;
  if (options.deployment === EMBEDDER) return { ...table, deployment: EMBEDDER, isChat: false };
  const { system, chat } = options;
  if (system !== undefined) checkColumns(system, columns);
  return {
    ...table,
    deployment: TEXT_GENERATOR,
    ...(system !== undefined && { system }),
    isChat: chat ?? (system !== undefined || isChatModel),
  };
}

function checkColumns(template: string, known: readonly string[]): void {
  const missing = missingColumn(template, known);
  if (missing !== undefined) throw missingJobColumn(missing, known);
}

/** A job whose rows are being stored. */
class JobDraft {
  readonly #job: JobDefinition;
  readonly #ask: Ask;
  readonly #signal: AbortSignal;
  /** The call before. It settles even if nobody waits for its answer any more. */
  #call: Promise<unknown> = Promise.resolve();

  constructor(job: JobDefinition, ask: Ask, signal: AbortSignal) {
    this.#job = job;
    this.#ask = ask;
    this.#signal = signal;
  }

  /** Stores all rows, and starts the job. Deletes it if that fails, or once the signal aborts. */
  async store(jobName: string, rows: AsyncIterable<string>, onStored: CreateJobOptions['onStored']) {
    const { id: jobId } = this.#job;
    try {
      await this.#send({ type: 'create-job', job: this.#job, jobName });
      await this.#storeRows(rows, onStored);
      await this.#send({ type: 'start-job', jobId });
    } catch (error) {
      // The worker runs calls side by side: it would create the job after its deletion.
      const deleted = this.#call
        .catch(() => {})
        .then(() => this.#ask({ type: 'steer-job', jobId, action: 'delete' }))
        .catch(() => {});
      if (!this.#signal.aborted) await deleted;
      throw error;
    }
  }

  /** Sends rows in pieces, so that neither tab nor worker holds them all. */
  async #storeRows(rows: AsyncIterable<string>, onStored: CreateJobOptions['onStored']): Promise<void> {
    const { id: jobId, source } = this.#job;
    const customIds = new Set<string>();
    let [from, length]: [number, number] = [0, 0];
    let piece: string[] = [];
    const send = async (): Promise<void> => {
      await this.#send({ type: 'add-job-rows', jobId, from, rows: piece });
      from += piece.length;
      onStored?.(from);
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

  /** @throws the signal's reason as soon as it aborts. */
  async #send(request: Parameters<Ask>[0]): Promise<void> {
    this.#signal.throwIfAborted();
    this.#call = this.#ask(request);
    await untilAborted(this.#call, this.#signal);
  }
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
async function* textsOf(
  source: JobSource<unknown>,
  name: string,
  signal: AbortSignal,
): AsyncGenerator<string, void, undefined> {
  let index = 0;
  for await (const row of entriesOf(source, name, signal)) {
    const place = `${name}[${index}]`;
    const json = typeof row === 'string' ? row : writeJson(row, place);
    if (json === undefined || !isRecord(parseJson(json)))
      throw wrongJobRow(place, 'an object of JSON values, or the text of one');
    yield json;
    index += 1;
  }
}

/** As `for await` takes them. Once the signal aborts, ends the source without waiting for it, and throws the reason. */
async function* entriesOf(source: JobSource<unknown>, name: string, signal: AbortSignal) {
  const iterator = openSource(source, name);
  // Rows of a list are taken at once: waiting for each would take longer than storing it.
  const settle = (given: unknown): unknown =>
    isRecord(given) && 'then' in given ? untilAborted(Promise.resolve(given), signal) : given;
  let isOpen = true;
  try {
    while (isOpen) {
      // A source that throws has ended by itself.
      isOpen = false;
      const { done, value }: Partial<IteratorResult<unknown>> = Object(await settle(iterator.next()));
      isOpen = !done;
      if (isOpen) yield await settle(value);
    }
  } finally {
    if (isOpen || signal.aborted) await untilAborted(end(iterator), signal).catch(() => {});
  }
}

type Source = Partial<AsyncIterable<unknown> & Iterable<unknown>>;
type Entries = AsyncIterator<unknown> | Iterator<unknown>;

/** @throws InvalidOptionError. */
function openSource(source: Source, name: string): Entries {
  const iterator = source[Symbol.asyncIterator]?.() ?? source[Symbol.iterator]?.();
  if (iterator && typeof Object(iterator).next === 'function') return iterator;
  throw InvalidOptionError.of(name, isSource.expected, iterator);
}

async function end(iterator: Entries): Promise<void> {
  await iterator.return?.();
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
