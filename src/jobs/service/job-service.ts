import { systemClock } from '../../batching/base/clock.ts';
import { InvalidOptionError } from '../../batching/base/errors.ts';
import type { CallHandlers } from '../../protocol/calls.ts';
import { EMBEDDER } from '../../protocol/embedding.ts';
import { NoModelError } from '../../protocol/errors/model.ts';
import { TEXT_GENERATOR } from '../../protocol/generation.ts';
import type { JobInfo, JobState } from '../../protocol/jobs.ts';
import type { RequestUpdate } from '../../protocol/requests.ts';
import type { WorkerStatus } from '../../protocol/status.ts';
import { MAX_PROMPT_LENGTH, type WireError } from '../../protocol/wire.ts';
import { toWireError } from '../../protocol/wire-errors.ts';
import type { JobCall } from './job-calls.ts';
import { JobRunner, type JobServer } from './job-runner.ts';
import type { Draft, JobStore } from './job-store.ts';
import type { ComparedModel } from '../../protocol/served-model.ts';
import { modelObstacle } from './job-model.ts';
import { StoredJob, withinStore } from './stored-job.ts';
import {
  jobNotFound,
  jobStoreFailed,
  jobTemplateTooLong,
  jobEndsWorkers,
  jobFilesLost,
} from '../../protocol/errors/job-messages.ts';

export interface JobServiceHost {
  readonly server: JobServer;
  status(): WorkerStatus;
  publish(jobs: readonly JobInfo[], deletedIds: readonly string[]): void;
}

const PUBLISH_INTERVAL_MS = 250;
const RETRY_MS = 5000;

/** Stores jobs, and runs one after another. */
export class JobService {
  readonly #host: JobServiceHost;
  readonly #store: JobStore;
  readonly #jobs = new Map<string, StoredJob>();
  readonly #drafts = new Map<string, Draft>();
  /** Jobs that wait until the time for another try has come. */
  readonly #blocks = new Map<string, WireError>();
  #runner: JobRunner | undefined;
  #isClosed = false;
  readonly #changedIds = new Set<string>();
  readonly #deletedIds = new Set<string>();

  private constructor(host: JobServiceHost, store: JobStore) {
    this.#host = host;
    this.#store = store;
  }

  /** Finds the jobs that an earlier worker has left. `schedule` goes on with them. @throws JobStoreError. */
  static async open(store: JobStore, host: JobServiceHost): Promise<JobService> {
    const service = new JobService(host, store);
    for (const each of await store.read()) {
      if (each instanceof StoredJob) service.#jobs.set(each.definition.id, each);
      else service.#drafts.set(each.job.id, each);
    }
    return service;
  }

  /** Starts the first job that can run. Call it after each change of the status. */
  schedule(): void {
    if (this.#isClosed) return;
    const next = this.#byAge.find((job) => job.isActive && this.#obstacleOf(job) === undefined);
    if (this.#runner?.job !== next) {
      const stopped = this.#runner;
      this.#runner = next && this.#createRunner(next);
      stopped?.stop();
      for (const job of this.#jobs.values()) if (job.isActive || job === stopped?.job) this.#change(job);
    }
    this.#runner?.run();
  }

  /** Runs no row from now on. */
  close(): void {
    this.#isClosed = true;
    this.#runner?.stop();
    this.#runner = undefined;
  }

  receive(updates: readonly RequestUpdate[]): void {
    this.#runner?.receive(updates);
  }

  readonly calls: CallHandlers<JobCall> = {
    'list-jobs': () => {
      this.#findLost();
      return this.#byAge.map((job) => this.#infoOf(job));
    },
    'create-job': async ({ job, jobName }) => {
      const { id, template = '', system = '' } = job;
      if (this.#jobs.has(id) || this.#drafts.has(id)) return;
      if (template.length + system.length > MAX_PROMPT_LENGTH) throw jobTemplateTooLong(MAX_PROMPT_LENGTH);
      this.#drafts.set(id, await this.#store.begin(job, jobName));
    },
    'add-job-rows': ({ jobId, from, rows }) => {
      if (this.#jobs.has(jobId)) return;
      const { logs } = this.#draft(jobId);
      const { length } = logs.rows;
      if (from > length) throw jobStoreFailed('rows of it are lost');
      // A line of the log is a row.
      const texts = rows.slice(length - from).map((text) => text.replaceAll(/[\r\n]/g, ' '));
      const entries = texts.map((text, at) => ({ key: length + at, text }));
      withinStore(() => logs.rows.append(entries));
    },
    'start-job': async ({ jobId }) => {
      if (this.#jobs.has(jobId)) return;
      const job = await this.#store.finish(this.#draft(jobId));
      this.#drafts.delete(jobId);
      this.#jobs.set(jobId, job);
      this.#change(job);
      this.schedule();
    },
    'steer-job': async ({ jobId, action }) => {
      if (action === 'delete') {
        await this.#delete(jobId);
        return;
      }
      const job = this.#job(jobId);
      this.#blocks.delete(jobId);
      if (action === 'pause') job.pause();
      else if (action === 'resume') job.resume(this.#servingFor(job));
      else if (action === 'cancel') job.cancel();
      else {
        // The runner may have passed these rows.
        this.#drop(job);
        job.retryFailed();
      }
      this.#change(job);
      this.schedule();
    },
    'rerun-job-row': ({ jobId, index, seed }) => {
      const job = this.#job(jobId);
      if (job.isCancelled)
        throw InvalidOptionError.of('index', 'a row of a job that runs: resume() it first', index);
      this.#drop(job);
      job.rerun(index, seed);
      this.#change(job);
      this.schedule();
    },
    'rename-job': ({ jobId, jobName }) => {
      const job = this.#job(jobId);
      job.rename(jobName);
      this.#change(job);
    },
    'read-job': ({ jobId, ...query }) => this.#job(jobId).read(query),
  };

  get #byAge(): readonly StoredJob[] {
    return [...this.#jobs.values()].toSorted((a, b) => (a.definition.id < b.definition.id ? -1 : 1));
  }

  #createRunner(job: StoredJob): JobRunner {
    const runner = new JobRunner(job, this.#host.server, {
      onChange: () => {
        const isOver = job.isDone || this.#obstacleOf(job) !== undefined;
        this.#adoptModel(job);
        this.#change(job);
        if (job.isDone) this.#findLost();
        if (isOver && this.#runner === runner) queueMicrotask(() => this.schedule());
      },
      onBlocked: (error) => this.#block(job, error),
    });
    this.#adoptModel(job);
    return runner;
  }

  #adoptModel(job: StoredJob): void {
    const serving = this.#servingFor(job);
    // A job from before jobs kept the precision takes that of the first model that goes on with it.
    if (job.model?.precision !== undefined || serving === undefined) return;
    if (job.model && modelObstacle(job.model, serving)) return;
    try {
      job.setModel(serving);
    } catch (error) {
      this.#block(job, toWireError(error));
    }
  }

  #block(job: StoredJob, error: WireError): void {
    const { id } = job.definition;
    if (this.#blocks.has(id)) return;
    this.#blocks.set(id, error);
    this.#change(job);
    this.#retryLater(job, error);
    queueMicrotask(() => this.schedule());
  }

  #retryLater(job: StoredJob, error: WireError): void {
    const { id } = job.definition;
    systemClock.setTimer(Math.max(RETRY_MS, error.details?.['retryAfterMs'] ?? 0), () => {
      // Files that are gone don't come back.
      if (this.#blocks.get(id) !== error || job.isLost) return;
      if (error.code === 'NO_ENCODER' && this.#encoder === undefined) {
        this.#retryLater(job, error);
        return;
      }
      this.#blocks.delete(id);
      this.#change(job);
      this.schedule();
    });
  }

  get #encoder(): ComparedModel | undefined {
    const encoder = this.#host.status().encoders?.find(({ deployment }) => deployment === EMBEDDER);
    return encoder && { id: encoder.id, precision: encoder.backend.precision };
  }

  /** The model that would answer its rows. */
  #servingFor({ definition }: StoredJob): ComparedModel | undefined {
    if (definition.deployment !== TEXT_GENERATOR) return this.#encoder;
    const { model, backend } = this.#host.status();
    return model && backend && { ...backend, id: model.id, origin: model.origin };
  }

  #obstacleOf(job: StoredJob): Obstacle {
    const block = this.#blocks.get(job.definition.id);
    if (block) return block;
    const { state, error } = this.#host.status();
    const serving = this.#servingFor(job);
    // The embedder's model is loaded when the first text comes.
    if (job.definition.deployment === TEXT_GENERATOR) {
      if (state !== 'ready') return state === 'failed' && error ? error : 'loading';
      if (serving === undefined) return toWireError(NoModelError.of());
    }
    return job.model && serving && modelObstacle(job.model, serving);
  }

  #infoOf(job: StoredJob): JobInfo {
    const obstacle = job.isActive ? this.#obstacleOf(job) : undefined;
    const error = damageOf(job) ?? obstacle;
    const isRunning = this.#runner?.job === job;
    return {
      ...job.definition,
      name: job.name,
      state: stateOf(job, obstacle, isRunning),
      counts: job.counts,
      ...(isRunning && this.#runner && { progress: this.#runner.progress }),
      ...(job.totals && { totals: job.totals }),
      numRetries: job.numRetries,
      ...(job.model && { model: job.model.id }),
      ...(error !== undefined && error !== 'loading' && { error }),
    };
  }

  #job(id: string): StoredJob {
    const job = this.#jobs.get(id);
    if (job) return job;
    throw jobNotFound(id);
  }

  #draft(id: string): Draft {
    const draft = this.#drafts.get(id);
    if (draft) return draft;
    throw jobNotFound(id);
  }

  async #delete(id: string): Promise<void> {
    const job = this.#jobs.get(id);
    if (job) this.#drop(job);
    job?.close();
    for (const log of Object.values(this.#drafts.get(id)?.logs ?? {})) log.close();
    this.#drafts.delete(id);
    if (this.#jobs.delete(id)) this.#publishSoon(this.#deletedIds, id);
    await this.#store.remove(id);
    // There may be room for what a full disk has stopped.
    this.#blocks.clear();
    this.schedule();
  }

  #drop(job: StoredJob): void {
    if (this.#runner?.job !== job) return;
    this.#runner.stop();
    this.#runner = undefined;
  }

  #change({ definition }: StoredJob): void {
    this.#publishSoon(this.#changedIds, definition.id);
  }

  /** Notices jobs whose files the browser has deleted under an open page, and publishes that. */
  #findLost(): void {
    const known = [...this.#jobs.values()].filter(({ isLost }) => !isLost);
    const mark = (ids: ReadonlySet<string>): void => {
      for (const job of known) {
        if (ids.has(job.definition.id)) continue;
        job.isLost = true;
        this.#change(job);
      }
    };
    this.#store.ids().then(mark, () => {
      // Without storage, the next call that needs it says so.
    });
  }

  #publishSoon(ids: Set<string>, id: string): void {
    if (this.#changedIds.size + this.#deletedIds.size === 0)
      systemClock.setTimer(PUBLISH_INTERVAL_MS, () => this.#publish());
    ids.add(id);
  }

  #publish(): void {
    const changed = this.#byAge.filter(({ definition }) => this.#changedIds.has(definition.id));
    const deletedIds = [...this.#deletedIds];
    this.#changedIds.clear();
    this.#deletedIds.clear();
    this.#host.publish(
      changed.map((job) => this.#infoOf(job)),
      deletedIds,
    );
  }
}

/** Why a job doesn't run now: an error, or a model that is still being loaded. */
type Obstacle = WireError | 'loading' | undefined;

/** An error of a job itself, not of one row. */
function damageOf(job: StoredJob): WireError | undefined {
  if (job.isDamaged) return toWireError(jobStoreFailed('rows of the job are lost'));
  if (job.endsWorkers) return toWireError(jobEndsWorkers());
  return job.isLost ? toWireError(jobFilesLost()) : undefined;
}

function stateOf(job: StoredJob, obstacle: Obstacle, isRunning: boolean): JobState {
  if (job.isDamaged) return 'failed';
  if (job.isDone) return 'finished';
  if (job.isCancelled) return 'cancelled';
  if (job.isPaused || job.endsWorkers || (obstacle !== undefined && obstacle !== 'loading')) return 'paused';
  return isRunning ? 'running' : 'queued';
}
