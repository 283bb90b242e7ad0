import { rm } from 'node:fs/promises';

import { createMutex } from '../../src/platform/mutex.ts';
import { secondsNow } from '../http/exchange.ts';
import type { BatchObject } from './batch.ts';
import type { FileStore } from './file-store.ts';
import { replaceFile } from './records.ts';
import { ResultLog } from './result-log.ts';
import { checkRows } from './rows.ts';
import { runRows, type RowSource, type RowsRun } from './run-rows.ts';
import { batchEnded } from '../http/http-errors.ts';

/** Shared by all batches of a server. */
export interface BatchRunOptions extends RowSource {
  readonly files: FileStore;
}

type Change = (batch: BatchObject) => Partial<BatchObject>;

/** One batch, from its file of rows to its files of results. Every step is on the disk before the next one begins. */
export class BatchRun {
  /** The path of the record; that of the results begins with it. */
  readonly #path: string;
  readonly #options: BatchRunOptions;
  readonly #cancelled = new AbortController();
  readonly #saves = createMutex();
  #batch: BatchObject;
  #counts: ResultLog['counts'] | undefined;

  constructor(path: string, batch: BatchObject, options: BatchRunOptions) {
    this.#path = path;
    this.#batch = batch;
    this.#options = options;
    if (batch.status === 'cancelling') this.#cancelled.abort();
  }

  /** As it is now. */
  get batch(): BatchObject {
    const { request_counts, ...batch } = this.#batch;
    const { completed, failed } = this.#counts ?? request_counts;
    return { ...batch, request_counts: { ...request_counts, completed, failed } };
  }

  async save(change: Change = () => ({})): Promise<void> {
    await this.#saves.run(async () => {
      const changed = { ...this.batch, ...change(this.#batch) };
      await replaceFile(this.#path, JSON.stringify(changed));
      this.#batch = changed;
    });
  }

  /** Rows that have a result keep it. @throws HttpError 409 for a batch that is ending, or has ended. */
  async cancel(): Promise<void> {
    await this.save(({ id, status }) => {
      if (status === 'cancelling') return {};
      if (status === 'validating' || status === 'in_progress')
        return { status: 'cancelling', cancelling_at: secondsNow() };
      throw batchEnded(id, status);
    });
    this.#cancelled.abort();
  }

  /** Goes on from what is on the disk, to the end. Rejects if the disk fails or the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const { files, ask, numRowsFor } = this.#options;
    const { id: scope, endpoint, input_file_id, created_at: createdAt } = this.#batch;
    const rows = await checkRows(files.contentPath(input_file_id), [endpoint], signal);
    const { total, problems } = rows;
    await this.save(({ status }) => {
      if (status !== 'validating') return {};
      if (problems.length > 0)
        return { status: 'failed', failed_at: secondsNow(), errors: { object: 'list', data: [...problems] } };
      const request_counts = { total, completed: 0, failed: 0 };
      return { status: 'in_progress', in_progress_at: secondsNow(), request_counts };
    });
    if (this.#batch.status === 'failed') return;
    const results = await ResultLog.open(`${this.#path}l`, rows);
    try {
      await this.#runRows(results, { rows, ask, numRowsFor, scope, createdAt }, signal);
      await this.#finish(results);
    } finally {
      await results.close();
    }
    await rm(`${this.#path}l`);
  }

  async #runRows(
    results: ResultLog,
    given: Omit<RowsRun, 'results' | 'signal'>,
    signal: AbortSignal,
  ): Promise<void> {
    this.#counts = results.counts;
    const cancelled = this.#cancelled.signal;
    if (cancelled.aborted) return;
    try {
      await runRows({ ...given, results, signal: AbortSignal.any([signal, cancelled]) });
    } catch (error) {
      signal.throwIfAborted();
      if (!cancelled.aborted) throw error;
    }
  }

  async #finish(results: ResultLog): Promise<void> {
    await this.save(({ status }) =>
      status === 'cancelling' ? {} : { status: 'finalizing', finalizing_at: secondsNow() },
    );
    const { completed, failed, inputTokens, outputTokens } = results.counts;
    const output_file_id = completed > 0 ? await this.#write(results, 'output') : null;
    const error_file_id = failed > 0 ? await this.#write(results, 'error') : null;
    await this.save(({ status }) => ({
      ...(status === 'cancelling'
        ? { status: 'cancelled', cancelled_at: secondsNow() }
        : { status: 'completed', completed_at: secondsNow() }),
      output_file_id,
      error_file_id,
      usage: {
        input_tokens: inputTokens,
        input_tokens_details: { cached_tokens: 0 },
        output_tokens: outputTokens,
        output_tokens_details: { reasoning_tokens: 0 },
        total_tokens: inputTokens + outputTokens,
      },
    }));
  }

  /** A server that was killed in between writes the same file again. */
  async #write(results: ResultLog, kind: 'output' | 'error'): Promise<string> {
    const { files } = this.#options;
    const { id } = this.#batch;
    const fileId = await files.write(
      results.inOrder(kind === 'error'),
      `${id.replace('batch_', 'file-')}-${kind}`,
    );
    await files.add(fileId, { filename: `${id}_${kind}.jsonl`, purpose: 'batch_output' });
    return fileId;
  }
}
