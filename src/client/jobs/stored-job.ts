import { InvalidOptionError } from '../../batching/base/errors.ts';
import { parseOptions } from '../../batching/base/parse-options.ts';
import { integerIn, oneOf } from '../../batching/base/validate.ts';
import { MAX_ROWS_PER_CALL, type JobInfo, type JobState } from '../../protocol/jobs.ts';
import type { Ask } from '../links/calls.ts';
import { checkedOptions } from '../base/refusals.ts';
import { Listeners, tellOne, type Listener } from '../base/listeners.ts';
import { isRecord } from '../../platform/is-record.ts';
import { parseJson } from '../../platform/parse-json.ts';
import { randomSeed } from '../../platform/random-seed.ts';
import { isName, isText } from './check-job.ts';
import type { CsvOptions, Job, ReadRowsOptions, RowResult, RowsPage } from './types.ts';
import { jobNotFound } from '../../protocol/errors/job-messages.ts';

const checkSeed = /* @__PURE__ */ integerIn({ from: 0, to: 2 ** 32 - 1 });
const checkFormat = /* @__PURE__ */ oneOf('csv', 'jsonl');
const ROWS = {
  from: /* @__PURE__ */ integerIn({ from: 0 }),
  limit: /* @__PURE__ */ integerIn({ from: 1, to: MAX_ROWS_PER_CALL }),
  only: /* @__PURE__ */ oneOf('finished', 'failed'),
  search: isText,
};

/** No row runs any more. */
const END_STATES: ReadonlySet<JobState> = new Set(['finished', 'cancelled', 'failed']);

/** One job of the worker. */
export class StoredJob implements Job {
  readonly id: string;
  readonly #ask: Ask;
  readonly #listeners = new Listeners<JobInfo | undefined>();
  #info: JobInfo;
  #isDeleted = false;
  /** Why no worker answers, and who is to be told so. */
  #end: Error | undefined;
  readonly #waiting = new Set<(reason: Error) => void>();

  constructor(info: JobInfo, ask: Ask) {
    this.id = info.id;
    this.#info = info;
    this.#ask = ask;
  }

  get info(): JobInfo {
    return this.#info;
  }

  /** The worker reports a change; undefined once the job is deleted. */
  apply(info: JobInfo | undefined): void {
    if (this.#isDeleted) return;
    if (info) this.#info = info;
    else this.#isDeleted = true;
    this.#listeners.tell(info);
  }

  /** No worker answers, for this reason; undefined once there is one again. */
  end(reason: Error | undefined): void {
    this.#end = reason;
    if (reason) for (const reject of this.#waiting) reject(reason);
  }

  subscribe(listener: Listener<JobInfo | undefined>): () => void {
    const unsubscribe = this.#listeners.add(listener);
    tellOne(listener, this.#isDeleted ? undefined : this.#info);
    return unsubscribe;
  }

  async *results(): AsyncGenerator<RowResult, void, undefined> {
    let from = 0;
    for (;;) {
      // Read first: rows that are open in a page that comes later stay open.
      const before = this.#info;
      const isStopped = END_STATES.has(before.state) && before.state !== 'finished';
      const { rows } = await this.rows({ from });
      for (const { result, ...row } of rows) {
        if (!result && !isStopped) break;
        if (result) yield { ...row, result };
        from = row.index + 1;
      }
      // The last result may come before the counts of all.
      if (from >= before.counts.total) return void (await this.done());
      // Also of a job that seems finished: somebody has run a row again.
      if (rows.at(-1)?.index !== from - 1) await this.#changeSince(before);
    }
  }

  async rows(options: ReadRowsOptions = {}): Promise<RowsPage> {
    const { from = 0, limit = 100, only, search } = parseOptions<ReadRowsOptions>('options', ROWS, options);
    const filter = { ...(only && { only }), ...(search !== undefined && { search }) };
    const { rows, next } = await this.#ask({ type: 'read-job', jobId: this.id, from, limit, ...filter });
    return { rows: rows.map((row) => ({ ...row, input: inputOf(row.json) })), next };
  }

  async done(): Promise<JobInfo> {
    while (!END_STATES.has(this.#info.state)) await this.#changeSince(this.#info);
    return this.#info;
  }

  pause(): Promise<void> {
    return this.#steer('pause');
  }

  resume(): Promise<void> {
    return this.#steer('resume');
  }

  cancel(): Promise<void> {
    return this.#steer('cancel');
  }

  retryFailed(): Promise<void> {
    return this.#steer('retry-failed');
  }

  async rerun(index: number, seed = randomSeed()): Promise<void> {
    integerIn({ from: 0, to: this.#info.counts.total - 1 })('index', index);
    checkSeed('seed', seed);
    await this.#change({ type: 'rerun-job-row', jobId: this.id, index, seed });
  }

  async rename(name: string): Promise<void> {
    await this.#change({ type: 'rename-job', jobId: this.id, jobName: isName('name', name) });
  }

  delete(): Promise<void> {
    return this.#steer('delete');
  }

  export(format: 'csv' | 'jsonl', options: CsvOptions = {}): ReadableStream<Uint8Array<ArrayBuffer>> {
    checkFormat('format', format);
    const checked = checkedOptions(options);
    checkExport(format, checked);
    const lines = this.#linesOf(format, checked);
    const encoder = new TextEncoder();
    return new ReadableStream({
      async pull(controller) {
        const { value, done } = await lines.next();
        if (done) controller.close();
        else controller.enqueue(encoder.encode(value));
      },
      async cancel() {
        await lines.return(undefined);
      },
    });
  }

  async *#linesOf(format: 'csv' | 'jsonl', options: CsvOptions): AsyncGenerator<string, void, undefined> {
    const { createWriter } = await import('./write-rows.ts');
    const writer = createWriter(this.#info, format, options);
    yield writer.head;
    for (let from: number | undefined = 0; from !== undefined;) {
      const page: RowsPage = await this.rows({ from, limit: 1000 });
      yield page.rows.map((row) => writer.line(row)).join('');
      from = page.next;
    }
  }

  async #steer(action: 'pause' | 'resume' | 'cancel' | 'retry-failed' | 'delete'): Promise<void> {
    await this.#change({ type: 'steer-job', jobId: this.id, action });
  }

  /** `info` has the change once this resolves: the worker publishes it only later. */
  async #change(request: Parameters<Ask>[0]): Promise<void> {
    await this.#ask(request);
    const infos = await this.#ask({ type: 'list-jobs' });
    this.apply(infos.find(({ id }) => id === this.id));
  }

  /**
   * Resolves once the worker has reported another state than this one.
   *
   * @throws JobNotFoundError once it is deleted; ClosedError or the reason why no worker answers.
   */
  #changeSince(known: JobInfo): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const unsubscribe = this.subscribe((info) => {
      if (!info) reject(jobNotFound(this.id));
      else if (info !== known) resolve();
    });
    this.#waiting.add(reject);
    this.end(this.#end);
    return promise.finally(() => {
      unsubscribe();
      this.#waiting.delete(reject);
    });
  }
}

function inputOf(json: string): Readonly<Record<string, unknown>> {
  const input = parseJson(json);
  return isRecord(input) ? input : {};
}

/** @throws InvalidOptionError. */
function checkExport(format: 'csv' | 'jsonl', options: CsvOptions): void {
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined) continue;
    if (name !== 'escapeFormulas' && name !== 'byteOrderMark')
      throw InvalidOptionError.of('options', 'escapeFormulas or byteOrderMark', name);
    if (format !== 'csv') throw InvalidOptionError.of(name, 'left out: it is for csv', value);
    if (typeof value !== 'boolean') throw InvalidOptionError.of(name, 'true or false', value);
  }
}
