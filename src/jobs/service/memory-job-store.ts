import { MemoryFile } from '../../platform/memory-file.ts';
import type { JobDefinition } from '../../protocol/jobs.ts';
import { IndexedLog } from './indexed-log.ts';
import type { Draft, JobStore } from './job-store.ts';
import { StoredJob } from './stored-job.ts';

/** Jobs in memory: they end with it. */
export class MemoryJobStore implements JobStore {
  readonly #ids = new Set<string>();

  read(): Promise<readonly []> {
    return Promise.resolve([]);
  }

  ids(): Promise<ReadonlySet<string>> {
    return Promise.resolve(this.#ids);
  }

  begin(job: JobDefinition, jobName: string): Promise<Draft> {
    this.#ids.add(job.id);
    return Promise.resolve({ job, jobName, logs: { rows: log(), results: log(), events: log() } });
  }

  finish({ job, jobName, logs }: Draft): Promise<StoredJob> {
    return Promise.resolve(new StoredJob(job, jobName, logs));
  }

  remove(id: string): Promise<void> {
    this.#ids.delete(id);
    return Promise.resolve();
  }
}

function log(): IndexedLog {
  return new IndexedLog(new MemoryFile(), new MemoryFile());
}
