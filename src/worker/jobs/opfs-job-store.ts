import * as v from 'valibot';
import { ModelStoreError } from '../../protocol/errors/hub.ts';
import { jobDefinition, type JobDefinition } from '../../protocol/jobs.ts';
import { count, parse, type Wire } from '../../protocol/wire.ts';
import {
  createFolder,
  foldersIn,
  ifFound,
  openFolder,
  openSyncFile,
  readJsonFile,
  removeEntry,
  writeJsonFile,
} from '../models/store/opfs.ts';
import { IndexedLog } from '../../jobs/service/indexed-log.ts';
import type { Draft, JobStore } from '../../jobs/service/job-store.ts';
import { StoredJob, type JobLogs } from '../../jobs/service/stored-job.ts';
import { jobStoreFailed } from '../../protocol/errors/job-messages.ts';
import { jobStoreNeedsSecurePage } from '../models/store/store-errors.ts';
import { OF_SECURE_PAGES } from '../../protocol/errors/secure-page.ts';
import { JobService, type JobServiceHost } from '../../jobs/service/job-service.ts';

// Below the app's folder: jobs/<id>/ with
// draft.json   what the job is, while its rows are being stored
// job.json     the same, once all rows are there: it makes the folder a job
// rows, results, events   each a log, with its index

const DRAFT = 'draft.json';
const JOB = 'job.json';

/** A tab that still stores rows does not pause for so long. */
const MAX_DRAFT_AGE_MS = 3_600_000;

/** The files of a worker that was terminated are free only a moment later. */
const MAX_OPENINGS = 20;
const OPENING_PAUSE_MS = 100;

const note = v.object({ job: jobDefinition, jobName: v.string(), numRows: v.exactOptional(count) });
type JobNote = Wire<typeof note>;

/** The jobs on this device. */
export class OpfsJobStore implements JobStore {
  readonly #root: string;

  /** @param root Name of the app's folder. */
  constructor(root: string) {
    this.#root = root;
  }

  /** Old drafts are removed. */
  read(): Promise<readonly (StoredJob | Draft)[]> {
    return asJobStore(async () => {
      const jobs = await this.#openFolder();
      const read = (await foldersIn(jobs)).map((folder) => this.#read(jobs, folder));
      return (await Promise.all(read)).filter((each) => each !== undefined);
    });
  }

  ids(): Promise<ReadonlySet<string>> {
    return asJobStore(
      async () => new Set((await foldersIn(await this.#openFolder())).map(({ name }) => name)),
    );
  }

  begin(job: JobDefinition, jobName: string): Promise<Draft> {
    return asJobStore(async () => {
      const folder = await createFolder(await this.#openFolder(), job.id);
      await writeJsonFile(folder, DRAFT, { job, jobName } satisfies JobNote);
      return { job, jobName, logs: await openLogs(folder) };
    });
  }

  finish({ job, jobName, logs }: Draft): Promise<StoredJob> {
    return asJobStore(async () => {
      const folder = await ifFound((await this.#openFolder()).getDirectoryHandle(job.id));
      if (!folder) throw jobStoreFailed('the rows that were stored are gone');
      await writeJsonFile(folder, JOB, { job, jobName, numRows: logs.rows.length } satisfies JobNote);
      await removeEntry(folder, DRAFT);
      return new StoredJob(job, jobName, logs);
    });
  }

  remove(id: string): Promise<void> {
    return asJobStore(async () => removeEntry(await this.#openFolder(), id));
  }

  /** Anew each time: the handle of a folder that was deleted with the site's data stays broken. */
  #openFolder(): Promise<FileSystemDirectoryHandle> {
    return openFolder(this.#root, 'jobs');
  }

  async #read(
    jobs: FileSystemDirectoryHandle,
    folder: FileSystemDirectoryHandle,
  ): Promise<StoredJob | Draft | undefined> {
    const whole = parse(note, await readJsonFile(folder, JOB));
    if (whole) return new StoredJob(whole.job, whole.jobName, await openLogs(folder), whole.numRows);
    const draft = parse(note, await readJsonFile(folder, DRAFT));
    if (draft && Date.now() - Date.parse(draft.job.createdAt) < MAX_DRAFT_AGE_MS)
      return { ...draft, logs: await openLogs(folder) };
    await removeEntry(jobs, folder.name);
    return undefined;
  }
}

async function openLogs(folder: FileSystemDirectoryHandle): Promise<JobLogs> {
  const openLog = async (name: string): Promise<IndexedLog> => {
    const log = await openPatiently(folder, `${name}.log`);
    return new IndexedLog(log, await openPatiently(folder, `${name}.index`));
  };
  return { rows: await openLog('rows'), results: await openLog('results'), events: await openLog('events') };
}

async function openPatiently(folder: FileSystemDirectoryHandle, name: string) {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await openSyncFile(folder, name);
    } catch (error) {
      if (attempt === MAX_OPENINGS) throw error;
      await new Promise((resolve) => setTimeout(resolve, OPENING_PAUSE_MS));
    }
  }
}

async function asJobStore<Value>(access: () => Promise<Value>): Promise<Value> {
  try {
    return await access();
  } catch (error) {
    if (!(error instanceof ModelStoreError)) throw error;
    throw error.cause === OF_SECURE_PAGES ? jobStoreNeedsSecurePage() : jobStoreFailed(error.cause);
  }
}

/** Opens the jobs of the app on this device. @param root Name of the app's folder. @throws JobStoreError. */
export function openJobs(root: string, host: JobServiceHost): Promise<JobService> {
  return JobService.open(new OpfsJobStore(root), host);
}
