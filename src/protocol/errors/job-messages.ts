import { shown } from '../../batching/base/errors.ts';
import { StorageQuotaError } from './hub.ts';
import {
  JobColumnError,
  JobEndsWorkersError,
  JobFilesLostError,
  JobModelError,
  JobNotFoundError,
  JobRowError,
  JobStoreError,
} from './jobs.ts';

// A tab makes the worker's errors again from their codes, without what is said here.

export function jobNotFound(id: string): JobNotFoundError {
  return new JobNotFoundError(
    `There is no job \`${shown(id)}\`: it was deleted, or belongs to another browser. See jobs.list().`,
  );
}

export function missingJobColumn(column: string, known: readonly string[]): JobColumnError {
  const columns = known.map((name) => `\`${shown(name)}\``).join(', ');
  return new JobColumnError(
    `The template names {{${shown(column)}}}, which is no column of the row: it has ${columns || 'none'}.`,
  );
}

export function noJobRows(): JobRowError {
  return new JobRowError('There are no rows: give the job at least one.');
}

export function sameCustomId(customId: string): JobRowError {
  return new JobRowError(
    `Two requests have the custom_id \`${shown(customId)}\`: give each a custom_id of its own.`,
  );
}

/** @param place The field, as `body.prompt`. */
export function wrongJobRow(place: string, expected: string): JobRowError {
  return new JobRowError(`Expected \`${place}\` to be ${expected}: correct this row.`);
}

/** @param place As `rows[5].price`. */
export function jobValueNotJson(place: string, value: unknown): JobRowError {
  return new JobRowError(
    `\`${shown(place)}\` is ${shown(value)} (${typeof value}), which JSON hasn't: write it as a text, or leave it out.`,
  );
}

/** @param maxLength In characters. */
export function jobTemplateTooLong(maxLength: number): JobRowError {
  return new JobRowError(`The template has more than ${maxLength} characters: shorten it.`);
}

/** @param reason What is wrong with a request, as a sentence. */
export function wrongJobBody(reason: string): JobRowError {
  return new JobRowError(`${reason} Correct the body of this row.`);
}

export function jobModelChanged(began: string, serves: string): JobModelError {
  return new JobModelError(
    `${began} began this job, and ${serves} serves now. Load ${began} to go on, or resume the job to take the other one for the remaining rows.`,
  );
}

export function jobEndsWorkers(): JobEndsWorkersError {
  return new JobEndsWorkersError(
    'Two workers in a row ended while they prepared rows of this job, so it is paused. Export what is done and delete it, or resume it to try again.',
  );
}

export function jobFilesLost(): JobFilesLostError {
  return new JobFilesLostError(
    "The browser has deleted this job's files, as it does when site data are cleared. Its rows and results are there until the last tab is closed: export them before.",
  );
}

export function jobStoreFailed(cause: unknown): JobStoreError {
  return new JobStoreError(
    `Couldn't use the browser's storage for jobs (${String(cause)}). Close other windows of this page, also one whose process is stopped, leave private browsing, or use another browser.`,
    { cause },
  );
}

export function storageFullForJob(cause: unknown): StorageQuotaError {
  return new StorageQuotaError(
    'The browser has no storage left for this site. Delete stored jobs or models, or free space on the disk; a job that runs then goes on by itself.',
    { cause },
  );
}
