import type { JobInfo } from '../../protocol/jobs.ts';
import type { TabserveStatus } from '../../protocol/status.ts';
import type { Ask } from '../links/calls.ts';
import { Listeners } from '../base/listeners.ts';
import { StoredJob } from './stored-job.ts';
import type { CreateJobOptions, Job, Jobs } from './types.ts';
import { jobNotFound } from '../../protocol/errors/job-messages.ts';

/** The worker's jobs as this tab knows them. */
export class StoredJobs implements Jobs {
  readonly #ask: Ask;
  readonly #status: () => TabserveStatus;
  readonly #jobs = new Map<string, StoredJob>();
  readonly #listeners = new Listeners<readonly Job[]>();

  constructor(ask: Ask, status: () => TabserveStatus) {
    this.#ask = ask;
    this.#status = status;
  }

  async create(options: CreateJobOptions): Promise<Job> {
    const { createJob } = await import('./create-job.ts');
    return this.get(await createJob(options, this.#ask, this.#status().model?.hasChatTemplate === true));
  }

  async list(): Promise<readonly Job[]> {
    await this.#fetch();
    return this.#latestFirst;
  }

  async get(id: string): Promise<Job> {
    await this.#fetch();
    const job = this.#jobs.get(id);
    if (job) return job;
    throw jobNotFound(id);
  }

  subscribe(listener: (jobs: readonly Job[]) => void): () => void {
    const unsubscribe = this.#listeners.add(listener);
    // A closed client reports its end in other ways.
    void this.#fetch().catch(() => {});
    return unsubscribe;
  }

  /** A worker reports changes. */
  apply(infos: readonly JobInfo[], deletedIds: readonly string[]): void {
    for (const info of infos) this.#put(info);
    for (const id of deletedIds) this.#remove(id);
    this.#notify();
  }

  /** Another worker serves. Changes that the last one has made may not have come. */
  refresh(): void {
    this.end(undefined);
    void this.#fetch().catch(() => {});
  }

  /** No worker answers, for this reason: nobody is to wait for a change. Undefined once there is one again. */
  end(reason: Error | undefined): void {
    for (const job of this.#jobs.values()) job.end(reason);
  }

  get #latestFirst(): readonly Job[] {
    return [...this.#jobs.values()].toSorted((a, b) => (a.id < b.id ? 1 : -1));
  }

  async #fetch(): Promise<void> {
    const infos = await this.#ask({ type: 'list-jobs' });
    const ids = new Set(infos.map(({ id }) => id));
    for (const info of infos) this.#put(info);
    for (const id of this.#jobs.keys()) if (!ids.has(id)) this.#remove(id);
    this.#notify();
  }

  #put(info: JobInfo): void {
    const known = this.#jobs.get(info.id);
    if (known) known.apply(info);
    else this.#jobs.set(info.id, new StoredJob(info, this.#ask));
  }

  #remove(id: string): void {
    this.#jobs.get(id)?.apply(undefined);
    this.#jobs.delete(id);
  }

  #notify(): void {
    this.#listeners.tell(this.#latestFirst);
  }
}
