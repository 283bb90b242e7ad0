import { systemClock } from '../../batching/base/clock.ts';
import { EMBEDDER } from '../../protocol/embedding.ts';
import { JobModelError } from '../../protocol/errors/jobs.ts';
import { asRequestId, type RequestId } from '../../protocol/ids.ts';
import type { JobProgress, JobResult } from '../../protocol/jobs.ts';
import { LearnedTexts } from '../../protocol/openai/learned-texts.ts';
import type { RequestUpdate } from '../../protocol/requests.ts';
import type { WireError } from '../../protocol/wire.ts';
import { toWireError } from '../../protocol/wire-errors.ts';
import { isGenerated, rowReader, toResult, type ReadRow } from './read-row.ts';
import type { RowRequest } from './read-request.ts';
import { RowRate } from './row-rate.ts';
import { sortWindow, type WindowRow } from './sort-window.ts';
import type { RowOutcome, StoredJob } from './stored-job.ts';

/** The worker's deployments, as a job uses them. */
export interface RowServer {
  /** Rows to keep running and waiting together, so that no slot is ever free. */
  numRowsFor(deployment: string): number;
  submit(requestId: RequestId, request: RowRequest): void;
  cancel(requestId: RequestId): void;
  /** By the model that serves. */
  tokenTexts(tokenIds: readonly number[]): Promise<readonly string[]>;
}

export interface RunnerListener {
  onChange(): void;
  /** The job can't go on for now, for this reason. The runner has stopped. */
  onBlocked(error: WireError): void;
}

/** Rows that are sorted together, and the characters that may be read to make them: of rows, templates and prompts. */
const WINDOW_ROWS = 128;
const WINDOW_LENGTH = 2 ** 22;

/** Results that share a write to the disk. A crash loses those of this time at most, and their rows run again. */
const MAX_UNSAVED = 64;
const SAVE_INTERVAL_MS = 100;

/** Rows that are submitted before the worker does something else. */
const ROWS_PER_TURN = 64;

/** Errors that say nothing about a row: all others would have them as well. */
const COMMON_ERRORS: ReadonlySet<string> = new Set([
  'CLOSED',
  'NO_MODEL',
  'NO_ENCODER',
  'BACK_PRESSURE',
  'PAGE_OUTDATED',
  'SERVER_ACCESS_DENIED',
  'SERVER_UNAVAILABLE',
  'SERVER_UNREACHABLE',
]);

interface ReadyRow extends WindowRow {
  readonly request: RowRequest;
}

/** Runs the rows of one job, as many at a time as fill the slots. */
export class JobRunner {
  readonly job: StoredJob;
  readonly #server: RowServer;
  readonly #listener: RunnerListener;
  readonly #readRow: ReadRow;
  /** A result is read when another model may serve. */
  readonly #tokens: LearnedTexts;
  readonly #inFlight = new Map<RequestId, ReadyRow>();
  readonly #rate = new RowRate(systemClock);
  /** The next rows, in the order in which they run. */
  #window: readonly ReadyRow[] = [];
  /** The first row that no window has had. */
  #cursor = 0;
  /** Since when the time isn't added to the job's. */
  #countedAtMs = systemClock.now();
  #isStopped = false;
  #isFilling = false;
  /** Whether this turn may read a window of rows: one each, which bounds its work. */
  #mayRead = true;
  /** Why the texts to embed wait while the other rows go on. */
  #held: WireError | undefined;
  #cancelTimer = (): void => {};
  #unsaved: RowOutcome[] = [];
  #cancelSaving = (): void => {};
  #endRows = (): void => {};

  constructor(job: StoredJob, server: RowServer, listener: RunnerListener) {
    this.job = job;
    this.#server = server;
    this.#listener = listener;
    this.#readRow = rowReader(job.definition);
    this.#tokens = new LearnedTexts((tokenIds) => server.tokenTexts(tokenIds).catch(() => []));
  }

  get progress(): JobProgress {
    const { total, finished, failed } = this.job.counts;
    return this.#rate.progress(total - finished - failed);
  }

  /** Submits rows until all slots are busy. Goes on by itself when rows end. */
  run(): void {
    if (this.#isStopped || this.#isFilling) return;
    this.#isFilling = true;
    this.#mayRead = true;
    for (let left = ROWS_PER_TURN; !this.#isStopped; left -= 1) {
      const row = this.#takeNext();
      if (!row) break;
      if (left === 0) {
        this.#window = [row, ...this.#window];
        this.#runSoon();
        break;
      }
      this.#submit(row);
    }
    this.#isFilling = false;
    if (this.#isStopped || this.#inFlight.size > 0) return;
    this.#saveNow();
    // No row of the last window could run.
    if (this.#cursor < this.job.numRows) this.#runSoon();
    else if (this.#held) this.#block(this.#held);
  }

  receive(updates: readonly RequestUpdate[]): void {
    for (const update of updates) {
      const row = this.#inFlight.get(update.requestId);
      if (row && !this.#isStopped) this.#apply(update, row);
    }
    this.run();
  }

  /** Rows in flight are dropped, and run again later. So do rows whose results can't be stored. */
  stop(): void {
    this.#isStopped = true;
    this.#cancelTimer();
    this.#endRows();
    try {
      this.job.save(this.#takeUnsaved());
    } catch {
      // The next save reports it.
    }
    this.#addTime(true);
    for (const requestId of this.#inFlight.keys()) this.#server.cancel(requestId);
    this.#inFlight.clear();
  }

  #apply(update: RequestUpdate, { index, request }: ReadyRow): void {
    const { requestId } = update;
    switch (update.type) {
      case 'started':
      case 'restarted':
        if (request.deployment === this.job.definition.deployment) this.#checkModel(update.model.id);
        break;
      case 'finished':
      case 'answered': {
        const learning =
          isGenerated(update.result) &&
          this.#tokens.learn(update.result.choices.flatMap(({ logprobs }) => logprobs ?? []));
        const finish = (): void => this.#finish(requestId, index, update.result);
        if (learning) void learning.then(finish).then(() => this.run());
        else finish();
        break;
      }
      case 'failed':
        this.#inFlight.delete(requestId);
        if (!COMMON_ERRORS.has(update.error.code)) this.#fail(index, update.error);
        else if (this.#mayWait(request)) this.#held = update.error;
        else this.#block(update.error);
        break;
      case 'accepted':
      case 'echo':
      case 'chunk':
        break;
      default:
        update satisfies never;
    }
  }

  #finish(requestId: RequestId, index: number, answer: unknown): void {
    if (!this.#inFlight.delete(requestId)) return;
    this.#save(index, toResult(this.job.definition, answer, this.#tokens.textOf));
  }

  /** Whether rows of another kind may go on while this one waits: the lines of a batch file may be of both. */
  #mayWait({ deployment }: RowRequest): boolean {
    return this.job.definition.source === 'requests' && deployment === EMBEDDER;
  }

  /** The status of the worker may name the new model only later. */
  #checkModel(serving: string): void {
    const { model } = this.job;
    if (model !== undefined && model !== serving) this.#block(toWireError(JobModelError.of(model, serving)));
  }

  #takeNext(): ReadyRow | undefined {
    if (this.#window.length === 0) {
      if (!this.#mayRead) {
        if (this.#cursor < this.job.numRows) this.#runSoon();
        return undefined;
      }
      this.#mayRead = false;
      this.#window = this.#nextWindow();
    }
    // Others of the kind that waits would only be told the same.
    if (this.#held) this.#window = this.#window.filter(({ request }) => !this.#mayWait(request));
    const [next, ...others] = this.#window;
    if (!next || this.#inFlight.size >= this.#server.numRowsFor(next.request.deployment)) return undefined;
    this.#window = others;
    return next;
  }

  #nextWindow(): readonly ReadyRow[] {
    const rows: ReadyRow[] = [];
    let [numRows, length] = [0, 0];
    const { job } = this;
    if (this.#cursor === 0) this.#beginRows();
    const inputs = job.inputs();
    const { template = '', system = '' } = job.definition;
    const isFull = (): boolean => numRows === WINDOW_ROWS || length >= WINDOW_LENGTH;
    for (; this.#cursor < job.numRows && !this.#isStopped && !isFull(); this.#cursor += 1) {
      const index = this.#cursor;
      if (!job.isPending(index)) continue;
      const json = inputs.textOf(index);
      numRows += 1;
      length += json.length + template.length + system.length;
      try {
        const request = this.#readRow(job.seedOf(index), json);
        const { input } = request;
        const text = typeof input === 'string' ? input : JSON.stringify(input);
        length += text.length;
        rows.push({ index, request, text });
      } catch (error) {
        this.#fail(index, toWireError(error));
      }
    }
    return sortWindow(rows);
  }

  /**
   * Notes on the disk that rows are prepared, until the worker gets to something else. The first ones are enough: the next worker
   * begins with those that have ended this one.
   */
  #beginRows(): void {
    try {
      this.job.beginRows();
    } catch (error) {
      this.#block(toWireError(error));
      return;
    }
    const cancelTimer = systemClock.setTimer(0, () => this.#endRows());
    this.#endRows = () => {
      cancelTimer();
      this.#endRows = () => {};
      this.job.endRows();
    };
  }

  #submit(row: ReadyRow): void {
    const { definition, numRetries } = this.job;
    // The same at the next worker, which may have to refuse a row that has ended several workers.
    const requestId = asRequestId(`job-${definition.id}-${numRetries}-${row.index}`);
    this.#inFlight.set(requestId, row);
    this.#server.submit(requestId, row.request);
  }

  #fail(index: number, error: WireError): void {
    this.#save(index, { numPromptTokens: 0, numOutputTokens: 0, error });
  }

  #save(index: number, result: JobResult): void {
    this.#rate.add(result.numOutputTokens || result.numPromptTokens);
    this.#unsaved.push({ index, result });
    if (this.#unsaved.length === 1)
      this.#cancelSaving = systemClock.setTimer(SAVE_INTERVAL_MS, () => this.#saveNow());
    if (this.#unsaved.length >= MAX_UNSAVED) this.#saveNow();
  }

  /** Rows that can't be stored run again once there is room. */
  #saveNow(): void {
    const results = this.#takeUnsaved();
    if (results.length === 0) return;
    try {
      this.job.save(results);
    } catch (error) {
      this.#block(toWireError(error));
      return;
    }
    this.#addTime(false);
    this.#listener.onChange();
  }

  #addTime(isLast: boolean): void {
    const now = systemClock.now();
    this.job.addTime(now - this.#countedAtMs, isLast);
    this.#countedAtMs = now;
  }

  #takeUnsaved(): readonly RowOutcome[] {
    this.#cancelSaving();
    const results = this.#unsaved;
    this.#unsaved = [];
    return results;
  }

  #runSoon(): void {
    this.#cancelTimer();
    this.#cancelTimer = systemClock.setTimer(0, () => this.run());
  }

  #block(error: WireError): void {
    this.stop();
    this.#listener.onBlocked(error);
  }
}
