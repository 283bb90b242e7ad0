import type { WorkerMessage } from '../../protocol/worker-messages.ts';
import type { TabserveStatus } from '../../protocol/status.ts';
import type { Ask } from '../links/calls.ts';
import { checkListener } from '../base/listeners.ts';
import type { StoredJobs } from './stored-jobs.ts';
import type { CreateJobOptions, Job, Jobs } from './types.ts';

/** The jobs, whose code is loaded when they are first asked for. */
export class JobsOnDemand implements Jobs {
  readonly #ask: Ask;
  readonly #status: () => TabserveStatus;
  #loading: Promise<StoredJobs> | undefined;

  constructor(ask: Ask, status: () => TabserveStatus) {
    this.#ask = ask;
    this.#status = status;
  }

  async create(options: CreateJobOptions): Promise<Job> {
    return (await this.#load()).create(options);
  }

  async list(): Promise<readonly Job[]> {
    return (await this.#load()).list();
  }

  async get(id: string): Promise<Job> {
    return (await this.#load()).get(id);
  }

  subscribe(listener: (jobs: readonly Job[]) => void): () => void {
    checkListener(listener);
    const ending = new AbortController();
    // A tab that can't load this code says so at its next call.
    void this.#load().then(
      (jobs) => ending.signal.aborted || ending.signal.addEventListener('abort', jobs.subscribe(listener)),
      () => {},
    );
    return () => ending.abort();
  }

  /** A worker reports changes. */
  apply({ jobs, deletedIds }: Extract<WorkerMessage, { type: 'jobs' }>): void {
    this.#whenLoaded((loaded) => loaded.apply(jobs, deletedIds));
  }

  /** Another worker serves. */
  refresh(): void {
    this.#whenLoaded((loaded) => loaded.refresh());
  }

  /** No worker answers, for this reason. */
  end(reason: Error): void {
    this.#whenLoaded((loaded) => loaded.end(reason));
  }

  #whenLoaded(tell: (jobs: StoredJobs) => void): void {
    void this.#loading?.then(tell, () => {});
  }

  #load(): Promise<StoredJobs> {
    this.#loading ??= import('./stored-jobs.ts').then(
      (loaded) => new loaded.StoredJobs(this.#ask, this.#status),
    );
    // The next call tries again.
    this.#loading.catch(() => (this.#loading = undefined));
    return this.#loading;
  }
}
