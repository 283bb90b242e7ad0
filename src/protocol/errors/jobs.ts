import { shown } from '../../batching/base/errors.ts';
import { codedError } from './coded-error.ts';

/** No job has this ID. */
export class JobNotFoundError extends codedError('JobNotFoundError', 'JOB_NOT_FOUND') {
  static of(id: string): JobNotFoundError {
    return new JobNotFoundError(
      `There is no job \`${shown(id)}\`: it was deleted, or belongs to another browser. See jobs.list().`,
    );
  }
}

/** A template names a column that the rows, or this row, haven't. */
export class JobColumnError extends codedError('JobColumnError', 'JOB_COLUMN_MISSING') {
  static of(column: string, known: readonly string[]): JobColumnError {
    const columns = known.map((name) => `\`${shown(name)}\``).join(', ');
    return new JobColumnError(
      `The template names {{${shown(column)}}}, which is no column of the row: it has ${columns || 'none'}.`,
    );
  }
}

/** The rows or requests of a job are not what they have to be. */
export class JobRowError extends codedError('JobRowError', 'JOB_ROW_INVALID') {
  static empty(): JobRowError {
    return new JobRowError('There are no rows: give the job at least one.');
  }

  static ofTwins(customId: string): JobRowError {
    return new JobRowError(
      `Two requests have the custom_id \`${shown(customId)}\`: give each a custom_id of its own.`,
    );
  }

  /** @param place The field, as `body.prompt`. */
  static expected(place: string, expected: string): JobRowError {
    return new JobRowError(`Expected \`${place}\` to be ${expected}: correct this row.`);
  }

  /** @param place As `rows[5].price`. */
  static ofValue(place: string, value: unknown): JobRowError {
    return new JobRowError(
      `\`${shown(place)}\` is ${shown(value)} (${typeof value}), which JSON hasn't: write it as a text, or leave it out.`,
    );
  }

  /** @param maxLength In characters. */
  static ofTemplate(maxLength: number): JobRowError {
    return new JobRowError(`The template has more than ${maxLength} characters: shorten it.`);
  }

  /** @param reason What is wrong with a request, as a sentence. */
  static ofBody(reason: string): JobRowError {
    return new JobRowError(`${reason} Correct the body of this row.`);
  }
}

/** Another model serves than the one that began the job. */
export class JobModelError extends codedError('JobModelError', 'JOB_MODEL_CHANGED') {
  static of(began: string, serves: string | undefined): JobModelError {
    return new JobModelError(
      `${began} began this job, and ${serves ?? 'no model'} serves now. Load ${began} to go on, or resume the job to take the other model for the remaining rows.`,
    );
  }
}

/** The work on a job's rows has ended several workers in a row, in this browser or an earlier one. */
export class JobEndsWorkersError extends codedError('JobEndsWorkersError', 'JOB_ENDS_WORKERS') {
  static of(): JobEndsWorkersError {
    return new JobEndsWorkersError(
      'Two workers in a row ended while they prepared rows of this job, so it is paused. Export what is done and delete it, or resume it to try again.',
    );
  }
}

/** The browser has deleted the job's files under this page, as it does when site data are cleared. */
export class JobFilesLostError extends codedError('JobFilesLostError', 'JOB_FILES_LOST') {
  static of(): JobFilesLostError {
    return new JobFilesLostError(
      "The browser has deleted this job's files, as it does when site data are cleared. Its rows and results are there until the last tab is closed: export them before.",
    );
  }
}

/** The browser's private file system (OPFS) is missing, or a job's files are damaged. */
export class JobStoreError extends codedError('JobStoreError', 'JOB_STORE_FAILED') {
  static because(cause: unknown): JobStoreError {
    return new JobStoreError(
      `Couldn't use the browser's storage for jobs (${String(cause)}). Close other windows of this page, also one whose process is stopped, leave private browsing, or use another browser.`,
      { cause },
    );
  }
}
