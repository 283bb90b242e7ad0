import { codedError } from './coded-error.ts';

/** No job has this ID. */
export class JobNotFoundError extends codedError('JobNotFoundError', 'JOB_NOT_FOUND') {}

/** A template names a column that the rows, or this row, haven't. */
export class JobColumnError extends codedError('JobColumnError', 'JOB_COLUMN_MISSING') {}

/** The rows or requests of a job are not what they have to be. */
export class JobRowError extends codedError('JobRowError', 'JOB_ROW_INVALID') {}

/** Another model serves than the one that began the job, or another precision or revision of it. */
export class JobModelError extends codedError('JobModelError', 'JOB_MODEL_CHANGED') {}

/** The work on a job's rows has ended several workers in a row, in this browser or an earlier one. */
export class JobEndsWorkersError extends codedError('JobEndsWorkersError', 'JOB_ENDS_WORKERS') {}

/** The browser has deleted the job's files under this page, as it does when site data are cleared. */
export class JobFilesLostError extends codedError('JobFilesLostError', 'JOB_FILES_LOST') {}

/** The browser's private file system (OPFS) is missing, or a job's files are damaged. */
export class JobStoreError extends codedError('JobStoreError', 'JOB_STORE_FAILED') {}
