import { access, constants, realpath, stat } from 'node:fs/promises';
import { dirname } from 'node:path';

import type { JobProgress } from '../src/protocol/jobs.ts';
import type { HttpError } from '../src/protocol/openai/http-error.ts';
import { replaceFile } from './batches/records.ts';
import { ForeignResultError, ResultLog } from './batches/result-log.ts';
import { BATCH_URLS, checkRows, type CheckedRows } from './batches/rows.ts';
import { runRows, type RowSource } from './batches/run-rows.ts';
import { BridgeError, fileReasonOf, isDiskFull, reasonOf } from './base/errors.ts';
import { keepOwnTab, startOwnServer, targetIn } from './own-server.ts';
import { rowsOfTab, rowsOfTarget } from './routes/ask-rows.ts';
import { probeTarget, type ForwardTarget } from './forward/fetch-target.ts';
import type { CommandLineOptions } from './cli/options.ts';
import { ProgressBar } from './cli/progress-bar.ts';
import { parseRunBatch, RUN_BATCH_USAGE, type RunBatchOptions } from './cli/run-batch-options.ts';

/** Calls `answer` with what asks the rows. The signal aborts when the command is stopped, or nothing can answer. */
type Serve = (answer: (rows: RowSource, signal: AbortSignal) => Promise<void>) => Promise<void>;

/**
 * Answers a file of rows.
 *
 * @returns The status of the process: 0 if every row has an answer.
 * @throws BridgeError for invalid arguments or files, or if nothing can answer.
 */
export async function runBatch(args: readonly string[]): Promise<number> {
  const options = parseRunBatch(args);
  if (!options) {
    console.log(RUN_BATCH_USAGE);
    return 0;
  }
  const { input, output, server } = options;
  const rows = await readInput(input);
  const results = await openOutput(options, rows);
  const bar = new ProgressBar(process.stderr);
  const stopped = stopOnSignal();
  try {
    const target = targetIn(server);
    const serve = target ? atTarget(target, stopped) : inTab(server, bar, stopped);
    const show = { onResults: showRows(bar, results, rows.total), onWait: printOnce(bar) };
    const run = { rows, results, scope: '', createdAt: await timeOf(input), ...show };
    const numDone = (): number => results.counts.completed + results.counts.failed;
    if (numDone() < rows.total) await serve((asked, signal) => runRows({ ...run, ...asked, signal }));
    await replaceFile(output, results.inOrder()).catch((error: unknown) => {
      throw notWritable(output, error);
    });
  } catch (error) {
    if (!stopped.aborted) throw isDiskFull(error) ? notWritable(output, error) : error;
  } finally {
    bar.clear();
    await results.close();
  }
  const { completed, failed } = results.counts;
  const rest = completed + failed < rows.total ? ' Pass --resume to go on.' : '';
  console.error(`${completed} of ${rows.total} rows are answered, ${failed} failed: ${output}.${rest}`);
  return completed === rows.total ? 0 : 1;
}

/** @throws BridgeError with the first problem; all are printed. */
async function readInput(path: string): Promise<CheckedRows> {
  const rows = await checkFile(path).catch((error: unknown) => {
    const message = `Couldn't read ${path}: ${fileReasonOf(error)}. Pass --input-file with a file that this user may read.`;
    throw new BridgeError('BATCH_FILE_INVALID', message, error);
  });
  const { problems } = rows;
  if (problems.length === 0) return rows;
  for (const { line, message, code } of problems) console.error(`${path}:${line}: ${message} (${code})`);
  throw new BridgeError('BATCH_FILE_INVALID', `${path} can't be run: correct these lines, then start again.`);
}

async function checkFile(path: string): Promise<CheckedRows> {
  const there = await stat(path);
  // A pipe can be read once, and a row is read again when it is asked.
  if (!there.isFile() && !there.isDirectory()) throw new Error('it is no file');
  return checkRows(path, BATCH_URLS, new AbortController().signal);
}

async function openOutput(
  { input, output, isResumed }: RunBatchOptions,
  rows: CheckedRows,
): Promise<ResultLog> {
  if ((await realpath(output).catch(() => '')) === (await realpath(input)))
    throw new BridgeError('INVALID_ARGUMENT', `${output} is the input file: pass another --output-file.`);
  const there = await stat(output).catch(() => undefined);
  if (there?.isFile() && there.size > 0 && !isResumed) {
    const message = `${output} has results already: pass --resume to go on with the rows that have none, or another --output-file.`;
    throw new BridgeError('BATCH_OUTPUT_EXISTS', message);
  }
  try {
    // The end of the run replaces the file by one beside it.
    await access(dirname(output), constants.W_OK);
    return await ResultLog.open(output, rows);
  } catch (error) {
    if (error instanceof ForeignResultError)
      throw new BridgeError('BATCH_OUTPUT_FOREIGN', `${output} can't be resumed: ${reasonOf(error)}`, error);
    throw notWritable(output, error);
  }
}

function notWritable(output: string, cause: unknown): BridgeError {
  const message = `Couldn't write ${output}: ${fileReasonOf(cause)}. Pass --output-file with a file in a folder that this user may write.`;
  return new BridgeError('INVALID_ARGUMENT', message, cause);
}

/** The time of the answers, which is the same when the run is resumed. */
async function timeOf(path: string): Promise<number> {
  const { mtimeMs } = await stat(path);
  return Math.floor(mtimeMs / 1000);
}

function atTarget(target: ForwardTarget, stopped: AbortSignal): Serve {
  return async (answer) => {
    const problem = await probeTarget(target);
    if (problem !== undefined) throw new BridgeError('NO_TARGET', problem);
    await answer(rowsOfTarget(target), stopped);
  };
}

/** In a browser that ends with the run. */
function inTab(options: CommandLineOptions, bar: ProgressBar, stopped: AbortSignal): Serve {
  return async (answer) => {
    const own = await startOwnServer(options, { batchFolder: undefined });
    const { bridge, server } = own;
    const failed = new AbortController();
    const ended = new AbortController();
    let hasBeenReady = false;
    bridge.serve.subscribe('status', (status) => {
      if (!hasBeenReady) bar.show(status);
      hasBeenReady ||= status.state === 'ready';
      if (status.state === 'failed' && status.error && status.error.code !== 'NO_TAB' && !hasBeenReady)
        failed.abort(BridgeError.modelNotLoaded(status.error));
    });
    const tab = keepOwnTab(own, { signal: ended.signal, print: printAbove(bar) }).catch((error: unknown) =>
      failed.abort(error),
    );
    try {
      await answer(
        rowsOfTab(bridge.serve, { ...options, allowsPriority: true }),
        AbortSignal.any([stopped, failed.signal]),
      );
    } finally {
      ended.abort();
      await tab;
      await server.close();
    }
  };
}

/** The second signal ends the process at once. */
function stopOnSignal(): AbortSignal {
  const stopped = new AbortController();
  const stop = (): void => {
    if (stopped.signal.aborted) process.exit(1);
    stopped.abort();
  };
  process.on('SIGINT', stop).on('SIGTERM', stop);
  return stopped.signal;
}

/** A reason that lasts is printed once. */
function printOnce(bar: ProgressBar): (reason: HttpError) => void {
  let last = '';
  return ({ message, code }) => {
    if (message === last) return;
    last = message;
    printAbove(bar)(`Rows wait: ${message} (${code})`);
  };
}

function printAbove(bar: ProgressBar): (line: string) => void {
  return (line) => {
    bar.clear();
    console.error(line);
  };
}

function showRows(bar: ProgressBar, { counts }: ResultLog, total: number): (progress: JobProgress) => void {
  return ({ rowsPerSecond, remainingMs }) => {
    const loaded = counts.completed + counts.failed;
    const left = remainingMs === undefined ? '' : `, ${Math.ceil(remainingMs / 1000)} s left`;
    const detail = ` of ${total} rows, ${rowsPerSecond.toFixed(1)} rows/s${left}`;
    bar.showStage({ phase: 'answer', loaded, total }, detail);
  };
}
