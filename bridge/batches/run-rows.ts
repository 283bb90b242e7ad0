import { createHash } from 'node:crypto';

import { writeOrderedJson } from '../../src/batching/base/ordered-json.ts';
import { RowRunner, type RunRequest } from '../../src/jobs/row-runner.ts';
import { isRecord } from '../../src/platform/is-record.ts';
import { untilAborted } from '../../src/platform/until-aborted.ts';
import { EMBEDDER } from '../../src/protocol/embedding.ts';
import { TEXT_GENERATOR } from '../../src/protocol/generation.ts';
import type { JobProgress } from '../../src/protocol/jobs.ts';
import { HttpError } from '../../src/protocol/openai/http-error.ts';
import { parseRetryAfter } from '../../src/protocol/server-failure.ts';
import type { ResultLog } from './result-log.ts';
import type { CheckedRows, Row } from './rows.ts';

/** The answer to a row: an HTTP status, and the body that an endpoint sends with it. */
export interface RowAnswer {
  readonly status: number;
  readonly body: object;
}

/** A request's context besides its row. */
export interface RowRequest {
  /** The same in every run: the answer has it in its id. */
  readonly requestId: string;
  /** In seconds of Unix time. The same in every run. */
  readonly createdAt: number;
  readonly signal: AbortSignal;
}

/** Answers a row. Rejects with an HttpError for which the row has to wait. */
export type AskRow = (row: Row, request: RowRequest) => Promise<RowAnswer>;

/** How rows are asked, and how many at a time. */
export interface RowSource {
  readonly ask: AskRow;
  /** How many rows may be asked at a time of a deployment. */
  readonly numRowsFor: (deployment: string) => number;
}

/** A file of rows that is being answered. */
export interface RowsRun extends RowSource {
  readonly rows: CheckedRows;
  readonly results: ResultLog;
  /** Makes the ids of different batches differ. */
  readonly scope: string;
  readonly createdAt: number;
  readonly signal: AbortSignal;
  /** Called when results were stored. */
  readonly onResults?: (progress: JobProgress) => void;
  /** Called while no row can be asked, with the reason. */
  readonly onWait?: (reason: HttpError) => void;
}

/** Asks the rows that have no result, and appends theirs. Rejects if a result can't be written, or the signal aborts. */
export async function runRows(run: RowsRun): Promise<void> {
  const { signal } = run;
  signal.throwIfAborted();
  if (numLeft(run) === 0) return;
  const { promise: ended, resolve, reject } = Promise.withResolvers<void>();
  const stopped = new AbortController();
  const runner = createRunner(run, stopped.signal, { resolve, reject });
  try {
    runner.run();
    await untilAborted(ended, signal);
  } finally {
    runner.stop();
    stopped.abort();
  }
}

type RunRow = Row & RunRequest;

function numLeft({ rows, results }: RowsRun): number {
  return rows.total - results.counts.completed - results.counts.failed;
}

function createRunner(
  run: RowsRun,
  signal: AbortSignal,
  { resolve, reject }: Pick<PromiseWithResolvers<void>, 'resolve' | 'reject'>,
): RowRunner<RunRow, string, HttpError> {
  const { rows, results, numRowsFor } = run;
  const answer = async (index: number, row: Row): Promise<void> => {
    try {
      runner.finish(index, await answerRow(row, run, signal), 0);
    } catch (error) {
      if (error instanceof HttpError)
        runner.wait(index, error, parseRetryAfter(error.headers['Retry-After']));
      else reject(error);
    }
  };
  const runner: RowRunner<RunRow, string, HttpError> = new RowRunner(
    {
      numRows: rows.total,
      isPending: (index) => !results.has(index),
      reader: () => (index) => readAgain(rows, index),
      save: (outcomes) => results.append(outcomes.map(({ result }) => result)),
    },
    { numRowsFor, submit: (index, row) => void answer(index, row) },
    {
      onSaved: () => {
        run.onResults?.(runner.progress(numLeft(run)));
        if (numLeft(run) === 0) resolve();
      },
      onWaiting: (reason) => run.onWait?.(reason),
      onFailed: reject,
    },
  );
  return runner;
}

function readAgain(rows: CheckedRows, index: number) {
  const { row, length } = rows.read(index);
  const { prompt, messages, input = prompt ?? messages } = row.body;
  const deployment = row.url === '/v1/embeddings' ? EMBEDDER : TEXT_GENERATOR;
  return { length, request: { ...row, deployment, input } };
}

/** The line of its result. */
async function answerRow(row: Row, { ask, scope, createdAt }: RowsRun, signal: AbortSignal): Promise<string> {
  const requestId = createHash('sha256').update(`${scope}\n${row.customId}`).digest('hex').slice(0, 24);
  const { status, body } = await ask(row, { requestId, createdAt, signal });
  const line = writeOrderedJson({
    id: `batch_req_${requestId}`,
    custom_id: row.customId,
    response: { status_code: status, request_id: requestId, body },
    error: status < 400 ? null : errorIn(body, status),
  });
  return line ?? '';
}

/** OpenAI's errors are in a field, those of older versions of vLLM are the body. */
function errorIn(body: object, status: number): object {
  const error: unknown = isRecord(body) && isRecord(body['error']) ? body['error'] : body;
  const { code = status, message = '' } = isRecord(error) ? error : {};
  return { code, message };
}
