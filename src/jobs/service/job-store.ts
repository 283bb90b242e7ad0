import type { JobDefinition } from '../../protocol/jobs.ts';
import type { JobLogs, StoredJob } from './stored-job.ts';

/** A job whose rows are being stored. */
export interface Draft {
  readonly job: JobDefinition;
  readonly jobName: string;
  readonly logs: JobLogs;
}

/** Keeps jobs. Errors are JobStoreError or StorageQuotaError. */
export interface JobStore {
  /** All jobs and drafts that are there when it is opened. */
  read(): Promise<readonly (StoredJob | Draft)[]>;
  /** The IDs of all jobs and drafts that are there. */
  ids(): Promise<ReadonlySet<string>>;
  begin(job: JobDefinition, jobName: string): Promise<Draft>;
  finish(draft: Draft): Promise<StoredJob>;
  /** Its files have to be closed. */
  remove(id: string): Promise<void>;
}
