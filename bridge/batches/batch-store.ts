import { existsSync, rmSync } from 'node:fs';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import pLimit from 'p-limit';
import * as v from 'valibot';
import { parseOrderedJson } from '../../src/batching/base/ordered-json.ts';
import { codeOf, fileReasonOf } from '../base/errors.ts';
import { secondsNow } from '../http/exchange.ts';
import { HttpError } from '../../src/protocol/openai/http-error.ts';
import { batchObject, hasEnded, type BatchObject } from './batch.ts';
import { BatchRun, type BatchRunOptions } from './batch-run.ts';
import { FileStore } from './file-store.ts';
import { createId } from './records.ts';
import { batchesStopped, batchNotFound, fileInUse, batchesInUse } from '../http/http-errors.ts';

/** Others wait for one of them to end. */
const MAX_RUNNING = 4;

/** After a failure of the disk. */
const RETRY_MS = 10_000;

type NewBatch = Pick<BatchObject, 'endpoint' | 'input_file_id' | 'completion_window' | 'metadata'>;

/** The batches of a folder, which no other server has. Those that have not ended go on when it is opened. */
export class BatchStore {
  readonly files: FileStore;
  readonly #folder: string;
  readonly #options: BatchRunOptions;
  readonly #unlock: () => void;
  readonly #runs = new Map<string, BatchRun>();
  readonly #limit = pLimit(MAX_RUNNING);
  readonly #running = new Set<Promise<void>>();
  readonly #stopped = new AbortController();

  private constructor(folder: string, options: BatchRunOptions, unlock: () => void) {
    this.files = options.files;
    this.#folder = folder;
    this.#options = options;
    this.#unlock = unlock;
  }

  /** @throws HttpError 503 if another server has the folder. */
  static async open(folder: string, options: Omit<BatchRunOptions, 'files'>): Promise<BatchStore> {
    const unlock = await lockFolder(folder);
    try {
      const files = await FileStore.open(join(folder, 'files'));
      const store = new BatchStore(join(folder, 'batches'), { ...options, files }, unlock);
      await store.#readAll();
      return store;
    } catch (error) {
      unlock();
      throw error;
    }
  }

  /** The newest first. */
  get all(): readonly BatchObject[] {
    return Array.from(this.#runs.values(), ({ batch }) => batch).toReversed();
  }

  /** @throws HttpError 404. */
  get(id: string): BatchRun {
    const run = this.#runs.get(id);
    if (run) return run;
    throw batchNotFound(id);
  }

  /** There is no batch if its record can't be written. @throws HttpError 404 if the input file isn't there. */
  async create(given: NewBatch): Promise<BatchObject> {
    const { purpose } = this.files.get(given.input_file_id);
    if (purpose !== 'batch')
      throw HttpError.expected('input_file_id', 'a file with the purpose batch', purpose);
    const run = this.#add({
      id: createId('batch_'),
      object: 'batch',
      ...given,
      errors: null,
      status: 'validating',
      output_file_id: null,
      error_file_id: null,
      created_at: secondsNow(),
      request_counts: { total: 0, completed: 0, failed: 0 },
    });
    try {
      await run.save();
    } catch (error) {
      this.#runs.delete(run.batch.id);
      throw error;
    }
    this.#start(run);
    return run.batch;
  }

  /** @throws HttpError 404, or 409 while a batch reads the file. */
  async removeFile(id: string): Promise<void> {
    this.files.get(id);
    const reader = this.all.find((batch) => batch.input_file_id === id && !hasEnded(batch));
    if (reader) throw fileInUse(reader.id);
    await this.files.remove(id);
  }

  /** Rows that run are asked again when the folder is opened the next time. */
  async stop(): Promise<void> {
    this.#stopped.abort();
    await Promise.all(this.#running);
    this.#unlock();
  }

  async #readAll(): Promise<void> {
    await mkdir(this.#folder, { recursive: true });
    for (const name of (await readdir(this.#folder)).toSorted()) {
      if (name.endsWith('.tmp')) await rm(join(this.#folder, name), { force: true });
      if (!name.endsWith('.json')) continue;
      const text = await readFile(join(this.#folder, name), 'utf8');
      const batch = v.parse(batchObject, parseOrderedJson(text));
      const run = this.#add(batch);
      if (!hasEnded(batch)) this.#start(run);
    }
  }

  #add(batch: BatchObject): BatchRun {
    const run = new BatchRun(join(this.#folder, `${batch.id}.json`), batch, this.#options);
    this.#runs.set(batch.id, run);
    return run;
  }

  #start(run: BatchRun): void {
    const running = this.#limit(() => this.#runToEnd(run));
    this.#running.add(running);
    void running.then(() => this.#running.delete(running));
  }

  /** Never rejects. A full disk may have room later. */
  async #runToEnd(run: BatchRun): Promise<void> {
    const { signal } = this.#stopped;
    while (!signal.aborted) {
      try {
        await run.run(signal);
        return;
      } catch (error) {
        if (signal.aborted) return;
        console.error(`The batch ${run.batch.id} can't go on, and tries again: ${fileReasonOf(error)}`);
      }
      await delay(RETRY_MS, undefined, { signal }).catch(() => undefined);
    }
  }
}

/** A store that is opened when it is first needed: by a request, or by batches that a server before has left. */
export class LazyBatchStore {
  readonly #open: () => Promise<BatchStore>;
  #store: Promise<BatchStore> | undefined;
  #isStopped = false;

  constructor(folder: string, options: Omit<BatchRunOptions, 'files'>) {
    this.#open = () => BatchStore.open(folder, options);
    // Another server may have the folder. Requests are told.
    if (existsSync(folder)) void this.get().catch(() => undefined);
  }

  /** @throws HttpError 503 if another server has the folder, or this one stops. */
  get(): Promise<BatchStore> {
    if (this.#isStopped) throw batchesStopped();
    const opening = (this.#store ??= this.#open());
    opening.catch(() => (this.#store = undefined));
    return opening;
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    const store = await this.#store?.catch(() => undefined);
    await store?.stop();
  }
}

const NAME = 'server.pid';

/**
 * Creates the folder and keeps other servers out of it. The lock of a process that has ended, or was killed, counts for nothing.
 *
 * @returns Gives the folder back.
 * @throws HttpError 503 if another process has it.
 */
async function lockFolder(folder: string): Promise<() => void> {
  const path = join(folder, NAME);
  await mkdir(folder, { recursive: true });
  for (;;) {
    try {
      await writeFile(path, String(process.pid), { flag: 'wx' });
      return () => rmSync(path, { force: true });
    } catch (error) {
      if (codeOf(error) !== 'EEXIST') {
        // A full disk leaves an empty file.
        rmSync(path, { force: true });
        throw error;
      }
    }
    const owner = Number(await readFile(path, 'utf8').catch(() => ''));
    if (isRunning(owner)) throw batchesInUse(folder, owner);
    rmSync(path, { force: true });
  }
}

function isRunning(pid: number): boolean {
  // A container gives its processes the same ids after each start.
  if (!Number.isInteger(pid) || pid <= 0 || pid === process.pid) return false;
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return codeOf(error) === 'EPERM';
  }
}
