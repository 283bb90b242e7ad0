import * as v from 'valibot';
import { parseJson } from '../../platform/parse-json.ts';
import { isRecord } from '../../platform/is-record.ts';
import { StorageQuotaError } from '../../protocol/errors/hub.ts';
import type { CallMessage } from '../../protocol/calls.ts';
import {
  jobTotals,
  type JobCounts,
  type JobDefinition,
  type JobResult,
  type JobTotals,
  type StoredRow,
} from '../../protocol/jobs.ts';
import { readCells, textOfCell } from '../../protocol/job-cells.ts';
import { rung } from '../../protocol/ladder.ts';
import { precision } from '../../protocol/models.ts';
import { seedOfRow } from '../row-rules.ts';
import type { RowOutcome } from '../row-runner.ts';
import { count, type Wire } from '../../protocol/wire.ts';
import type { IndexedLog, LogReader } from './indexed-log.ts';
import type { ComparedModel } from '../../protocol/served-model.ts';
import { modelObstacle, type JobModel } from './job-model.ts';
import { jobStoreFailed, storageFullForJob } from '../../protocol/errors/job-messages.ts';

const event = v.variant('type', [
  /** `begin`: a worker prepares its first rows; `begun`: it did. */
  v.object({ type: v.picklist(['pause', 'resume', 'cancel', 'begin', 'begun']) }),
  v.object({ type: v.literal('name'), name: v.string() }),
  v.object({
    type: v.literal('model'),
    id: v.string(),
    origin: v.exactOptional(v.string()),
    rung: v.exactOptional(rung),
    precision: v.exactOptional(precision),
  }),
  /** Errors before `from` in the log of results no longer count. */
  v.object({ type: v.literal('retry'), from: count }),
  /** The result of this row before `from` no longer counts. */
  v.object({ type: v.literal('rerun'), index: count, from: count, seed: count }),
  v.object({ type: v.literal('totals'), ...jobTotals.entries }),
]);
/** A change of a job that no row makes. */
type JobEvent = Wire<typeof event>;

/** The logs of a job: its rows, their results by row, and its events by number. */
export type JobLogs = Readonly<Record<'rows' | 'results' | 'events', IndexedLog>>;

/** Limits of one page of rows, so that no step waits for it. */
const MAX_PAGE_BYTES = 2 ** 21;
const MAX_PAGE_READS = 1000;

/** Workers in a row that may end while they prepare rows. A single one may be chance. */
const MAX_LOST_WORKERS = 2;

/** Between two notes of what the rows took, ms. */
const TOTALS_INTERVAL_MS = 10_000;

/** Rows whose results may share a write, which rewrites their part of the index: 100 kB at most. */
const MAX_SPAN = 4096;

const OUTLIVED: ReadonlySet<JobEvent['type']> = new Set(['begun', 'resume']);

type RowQuery = Pick<CallMessage<'read-job'>, 'from' | 'limit' | 'only' | 'search'>;

/** A job whose rows are all stored. Its state is what its logs say, so a crash leaves it as it was. */
export class StoredJob {
  readonly definition: JobDefinition;
  readonly numRows: number;
  /** Whether rows are lost. */
  readonly isDamaged: boolean;
  readonly #logs: JobLogs;
  /** For each row: 0 while it has no result, 1 with a result, 2 with an error. */
  #marks: Uint8Array;
  readonly #counts = { finished: 0, failed: 0 };
  #numEvents = 0;
  name: string;
  model: JobModel | undefined;
  isPaused = false;
  isCancelled = false;
  /** Whether its files are gone, although the logs that are open can be read and written. */
  isLost = false;
  /** Workers in a row that ended while they prepared rows. */
  #numLostWorkers = 0;
  /** Number of times that rows were run again. */
  numRetries = 0;
  /** Errors before this place in the log of results no longer count. */
  #retriedFrom = 0;
  /** The last order to run a row again, by its index. */
  readonly #reruns = new Map<number, Extract<JobEvent, { type: 'rerun' }>>();
  #totals: JobTotals = { durationMs: 0, numRows: 0, numPromptTokens: 0, numOutputTokens: 0 };
  #recordedMs = 0;

  /** @param numRows As many as were stored. */
  constructor(definition: JobDefinition, name: string, logs: JobLogs, numRows = logs.rows.length) {
    this.definition = definition;
    this.name = name;
    this.numRows = numRows;
    this.isDamaged = logs.rows.length < numRows;
    this.#logs = logs;
    this.#marks = new Uint8Array(this.numRows);
    const events = logs.events.reader();
    for (; this.#numEvents < logs.events.length; this.#numEvents += 1) {
      const read = v.safeParse(event, parseJson(events.read(this.#numEvents)));
      if (!read.success) continue;
      this.#apply(read.output);
      if (read.output.type === 'begin') this.#numLostWorkers += 1;
      else if (OUTLIVED.has(read.output.type)) this.#numLostWorkers = 0;
    }
    this.#countMarks();
  }

  get counts(): JobCounts {
    return { total: this.numRows, ...this.#counts };
  }

  /** Undefined before the first row is done. */
  get totals(): JobTotals | undefined {
    return this.#totals.numRows > 0 ? this.#totals : undefined;
  }

  get isDone(): boolean {
    return this.#counts.finished + this.#counts.failed === this.numRows;
  }

  /** Whether rows of it may run. */
  get isActive(): boolean {
    return !this.isPaused && !this.isCancelled && !this.isDone && !this.isDamaged && !this.endsWorkers;
  }

  /** Whether several workers have ended while they prepared its rows, also of earlier browsers. */
  get endsWorkers(): boolean {
    return this.#numLostWorkers >= MAX_LOST_WORKERS;
  }

  /** Rows are about to be prepared. @throws StorageQuotaError, JobStoreError. */
  beginRows(): void {
    this.#record({ type: 'begin' });
  }

  /** The worker has outlived that. */
  endRows(): void {
    try {
      this.#record({ type: 'begun' });
    } catch {
      // The next save reports it.
    }
  }

  isPending(index: number): boolean {
    return this.#marks[index] === 0;
  }

  pause(): void {
    if (this.isActive) this.#record({ type: 'pause' });
  }

  /** @param model Takes the place of the one that began it. */
  resume(model: ComparedModel | undefined): void {
    if (this.isPaused || this.isCancelled || this.endsWorkers) this.#record({ type: 'resume' });
    this.#numLostWorkers = 0;
    if (model && this.model && modelObstacle(this.model, model)) this.setModel(model);
  }

  cancel(): void {
    if (!this.isDone && !this.isCancelled) this.#record({ type: 'cancel' });
  }

  rename(name: string): void {
    this.#record({ type: 'name', name });
  }

  setModel({ id, origin, rung: ranOn, precision: storedAs }: ComparedModel): void {
    this.#record({
      type: 'model',
      id,
      ...(origin !== undefined && { origin }),
      ...(ranOn && { rung: ranOn }),
      precision: storedAs,
    });
  }

  /** Does nothing without failed rows. */
  retryFailed(): void {
    if (this.counts.failed === 0) return;
    this.#record({ type: 'retry', from: this.#logs.results.end });
    this.#countMarks();
  }

  /** A row that isn't done runs anyway. */
  rerun(index: number, seed: number): void {
    if (index >= this.numRows || this.isPending(index)) return;
    this.#record({ type: 'rerun', index, from: this.#logs.results.end, seed });
    this.#countMarks();
  }

  /** The same whenever the row runs, until it is to run with another one. */
  seedOf(index: number): number {
    return this.#reruns.get(index)?.seed ?? seedOfRow(this.definition.seed, index);
  }

  /** Its rows have run for so long since the last call. */
  addTime(durationMs: number, isLast: boolean): void {
    this.#totals = { ...this.#totals, durationMs: this.#totals.durationMs + durationMs };
    const isDue = isLast || this.isDone || this.#totals.durationMs - this.#recordedMs >= TOTALS_INTERVAL_MS;
    if (!isDue || this.#totals.durationMs === this.#recordedMs) return;
    try {
      this.#record({ type: 'totals', ...this.#totals });
    } catch {
      // The next save reports it.
    }
  }

  /**
   * Results of rows near each other share a write. Rows count as done once they are written.
   *
   * @throws StorageQuotaError, JobStoreError.
   */
  save(results: readonly RowOutcome<JobResult>[]): void {
    for (const group of Map.groupBy(results, ({ index }) => Math.floor(index / MAX_SPAN)).values()) {
      const entries = group.map(({ index, result }) => ({
        key: index,
        text: JSON.stringify(result),
        isMarked: result.error !== undefined,
      }));
      withinStore(() => this.#logs.results.append(entries));
      for (const { key, isMarked } of entries) {
        this.#marks[key] = isMarked ? 2 : 1;
        this.#counts[isMarked ? 'failed' : 'finished'] += 1;
      }
      this.#totals = group.reduce(withResult, this.#totals);
    }
  }

  /** Inputs of rows, in any order. */
  inputs(): RowInputs {
    return new RowInputs(this.#logs.rows.reader());
  }

  /** Rows in file order, from `from` on. `next` is left out after the last one. */
  read({ from, limit, only, search }: RowQuery) {
    const rows: StoredRow[] = [];
    const mark = only && (only === 'finished' ? 1 : 2);
    const [inputs, results] = [this.inputs(), this.#logs.results.reader()];
    const needle = search?.toLowerCase();
    let numBytes = 0;
    let numReads = 0;
    let index = from;
    const isFull = (): boolean =>
      rows.length >= limit || numBytes > MAX_PAGE_BYTES || numReads >= MAX_PAGE_READS;
    for (; index < this.numRows && !isFull(); index += 1) {
      if (mark !== undefined && this.#marks[index] !== mark) continue;
      const row = this.#rowAt(index, inputs, results);
      numReads += 1;
      // A read behind the end of a file is never kept.
      numBytes += inputs.sizeOf(index) + (row.result ? results.lineAt(index).length : 0);
      if (needle === undefined || hasText(row, needle)) rows.push(row);
    }
    return { rows, ...(index < this.numRows && { next: index }) };
  }

  close(): void {
    for (const log of Object.values(this.#logs)) log.close();
  }

  #rowAt(index: number, inputs: RowInputs, results: LogReader): StoredRow {
    const row = { index, json: inputs.textOf(index) };
    if (this.isPending(index)) return row;
    const result = parseJson(results.read(index));
    // Written by `save`, and whole, because a torn line is cut off.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- see above
    return isRecord(result) ? { ...row, result: result as JobResult } : row;
  }

  #record(made: JobEvent): void {
    withinStore(() => this.#logs.events.append([{ key: this.#numEvents, text: JSON.stringify(made) }]));
    this.#numEvents += 1;
    this.#apply(made);
  }

  #apply(made: JobEvent): void {
    if (made.type === 'name') this.name = made.name;
    else if (made.type === 'model') this.model = made;
    else if (made.type === 'retry') this.#noteRetry(made.from);
    else if (made.type === 'rerun') this.#noteRerun(made);
    else if (made.type === 'totals') this.#noteTotals(made);
    else if (made.type === 'pause') this.isPaused = true;
    else if (made.type === 'resume' || made.type === 'cancel') {
      this.isPaused = false;
      this.isCancelled = made.type === 'cancel';
    }
  }

  #noteRetry(from: number): void {
    this.#retriedFrom = from;
    this.numRetries += 1;
  }

  #noteRerun(made: Extract<JobEvent, { type: 'rerun' }>): void {
    this.#reruns.set(made.index, made);
    this.numRetries += 1;
  }

  #noteTotals({ durationMs, numRows, numPromptTokens, numOutputTokens }: JobTotals): void {
    this.#totals = { durationMs, numRows, numPromptTokens, numOutputTokens };
    this.#recordedMs = durationMs;
  }

  #countMarks(): void {
    this.#marks = this.#logs.results.marks(this.numRows, this.#retriedFrom);
    const results = this.#logs.results.reader();
    for (const { index, from } of this.#reruns.values())
      if (results.lineAt(index).begin < from) this.#marks[index] = 0;
    this.#counts.finished = this.#marks.reduce((sum, mark) => sum + (mark === 1 ? 1 : 0), 0);
    this.#counts.failed = this.#marks.reduce((sum, mark) => sum + (mark === 2 ? 1 : 0), 0);
  }
}

function withResult(totals: JobTotals, { result }: RowOutcome<JobResult>): JobTotals {
  return {
    ...totals,
    numRows: totals.numRows + 1,
    numPromptTokens: totals.numPromptTokens + result.numPromptTokens,
    numOutputTokens: totals.numOutputTokens + result.numOutputTokens,
  };
}

/** Reads rows. Rows in file order share reads of their file. */
export class RowInputs {
  readonly #rows: LogReader;

  constructor(rows: LogReader) {
    this.#rows = rows;
  }

  /** Bytes that a row's input takes. */
  sizeOf(index: number): number {
    return this.#rows.lineAt(index).length;
  }

  /** An empty row in place of one that is damaged. */
  textOf(index: number): string {
    return this.#rows.read(index) ?? '{}';
  }
}

/** @throws StorageQuotaError, JobStoreError. */
export function withinStore<Value>(access: () => Value): Value {
  try {
    return access();
  } catch (cause) {
    throw cause instanceof StorageQuotaError ? storageFullForJob(cause) : jobStoreFailed(cause);
  }
}

function hasText({ json, result }: StoredRow, needle: string): boolean {
  const cells = readCells(json)?.values() ?? [];
  const texts = [...Array.from(cells, textOfCell), result?.text, result?.error?.message];
  return texts.some((text) => text?.toLowerCase().includes(needle));
}
