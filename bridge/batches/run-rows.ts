import { createHash } from 'node:crypto';

import { isRecord } from '../../src/platform/is-record.ts';
import type { ResultLog } from './result-log.ts';
import { readRows, type BatchUrl, type Row } from './rows.ts';

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

/** Answers a row, however long that takes. Rejects only when the signal aborts. */
export type AskRow = (row: Row, request: RowRequest) => Promise<RowAnswer>;

/** A file of rows that is being answered. */
export interface RowsRun {
  /** The path of the input. */
  readonly input: string;
  readonly urls: readonly BatchUrl[];
  readonly results: ResultLog;
  readonly ask: AskRow;
  /** How many rows may be asked at a time. */
  readonly numAtOnce: () => number;
  /** Makes the ids of different batches differ. */
  readonly scope: string;
  readonly createdAt: number;
  readonly signal: AbortSignal;
  /** Called after each row. */
  readonly onResult?: () => void;
}

/** Asks the rows that have no result, and appends theirs. Rejects if a result can't be written, or the signal aborts. */
export async function runRows({ input, urls, numAtOnce, signal, ...run }: RowsRun): Promise<void> {
  const stop = new AbortController();
  const stopped = AbortSignal.any([signal, stop.signal]);
  const running = new Set<Promise<void>>();
  try {
    for await (const row of readRows(input, urls)) {
      if (run.results.has(row.index)) continue;
      while (running.size >= numAtOnce()) await Promise.race(running);
      stopped.throwIfAborted();
      const answered = answerRow(row, run, stopped);
      running.add(answered);
      const forget = (): void => void running.delete(answered);
      answered.then(forget, () => undefined);
    }
    await Promise.all(running);
  } finally {
    stop.abort();
    await Promise.allSettled(running);
  }
}

type Rest = Pick<RowsRun, 'results' | 'ask' | 'scope' | 'createdAt' | 'onResult'>;

async function answerRow(row: Row, run: Rest, signal: AbortSignal): Promise<void> {
  const requestId = digestOf(`${run.scope}\n${row.customId}`).toString('hex', 0, 12);
  const { status, body } = await run.ask(row, { requestId, createdAt: run.createdAt, signal });
  await run.results.append(
    JSON.stringify({
      id: `batch_req_${requestId}`,
      custom_id: row.customId,
      response: { status_code: status, request_id: requestId, body },
      error: status < 400 ? null : errorIn(body, status),
    }),
  );
  run.onResult?.();
}

/** OpenAI's errors are in a field, those of older versions of vLLM are the body. */
function errorIn(body: object, status: number): object {
  const error: unknown = isRecord(body) && isRecord(body['error']) ? body['error'] : body;
  const { code = status, message = '' } = isRecord(error) ? error : {};
  return { code, message };
}

/** The seed of a row that names none: in every run the same, so that a row that is asked again has the same text. */
export function seedOf({ customId }: Row): number {
  return digestOf(customId).readUInt32LE();
}

function digestOf(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
