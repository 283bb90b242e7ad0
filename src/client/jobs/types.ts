import type { EmbeddingOptions } from '../../protocol/embedding.ts';
import type { GenerationOptions, ResponseFormat } from '../../protocol/generation.ts';
import type { JobInfo, JobResult } from '../../protocol/jobs.ts';

/** A list, or anything that gives its entries one after another, such as a file that is being read. */
export type JobSource<Entry> = Iterable<Entry> | AsyncIterable<Entry>;

/** One record of a table: a cell for each column. Prompts show texts as they are, nothing for null, and other values as JSON. */
export type JobRecord = Readonly<Record<string, unknown>>;

/** One line of an OpenAI batch file. Lines of another shape become rows with `JOB_ROW_INVALID`. */
export interface JobRequest {
  /** Names the line in the results. No two lines have the same. */
  readonly custom_id: string;
  /** Always `POST`. */
  readonly method: string;
  /**
   * `/v1/completions`, `/v1/chat/completions` or `/v1/embeddings`; or a deployment, `text-generator` or `embedder`, whose `body` is
   * `{ input, options }`.
   */
  readonly url: string;
  /** The body of such a request. `model` is ignored: the model that serves answers. `stream` must be false. */
  readonly body: Readonly<Record<string, unknown>>;
}

/** Options of every job. */
export interface CommonJobOptions {
  /** For people; `Job` and the date by default. */
  readonly name?: string | undefined;
  /** The seed of the first row; the row at index i has `seed + i`. By default 0 for `requests`, else random. */
  readonly seed?: number | undefined;
  /** Called after each piece of rows that is stored, with the number of rows so far. */
  readonly onStored?: ((numRows: number) => void) | undefined;
  /** Stops the storing of rows: `create` rejects with the signal's reason, and no job is left. */
  readonly signal?: AbortSignal | undefined;
}

/** A prompt over the rows of a table. */
export interface TextJobOptions extends CommonJobOptions {
  /**
   * The records. They are stored as they come, and are never all in memory. At least one. A row may be the text of a JSON object,
   * such as a line of a JSONL file: then its numbers stay as they are written, and its columns in their order.
   */
  readonly rows: JobSource<JobRecord | string>;
  /** The prompt, in which `{{column}}` is the row's text of that column. */
  readonly template: string;
  /** The system message of each row's chat. `{{column}}` works here too. */
  readonly system?: string | undefined;
  /**
   * Whether the template is the user's message of a chat. By default, if there is a `system` message or the current model has a
   * chat template.
   */
  readonly chat?: boolean | undefined;
  /**
   * Options of every row. The worker checks them with the first rows. `n`, `echo` and `promptLogprobs` are not for jobs. */
  readonly options?: GenerationOptions | undefined;
  /** The shape of every answer, as in the options. */
  readonly responseFormat?: ResponseFormat | undefined;
  /** The deployment that answers. */
  readonly deployment?: 'text-generator' | undefined;
}

/** A vector for each row of a table. */
export interface EmbedJobOptions extends CommonJobOptions {
  /**
   * The records. They are stored as they come, and are never all in memory. At least one. A row may be the text of a JSON object,
   * such as a line of a JSONL file: then its numbers stay as they are written, and its columns in their order.
   */
  readonly rows: JobSource<JobRecord | string>;
  /** The text to embed, in which `{{column}}` is the row's text of that column. */
  readonly template: string;
  /** Options of every row. */
  readonly options?: EmbeddingOptions | undefined;
  /** The deployment that answers. */
  readonly deployment: 'embedder';
}

/** A job from an OpenAI batch file. */
export interface RequestJobOptions extends CommonJobOptions {
  /** The lines of the file, parsed or as texts. At least one. */
  readonly requests: JobSource<JobRequest | string>;
}

/** Options of `tabserve.jobs.create`. */
export type CreateJobOptions = TextJobOptions | EmbedJobOptions | RequestJobOptions;

/** Which rows to read. */
export interface ReadRowsOptions {
  /** Index of the first row, from 0, which is the default. */
  readonly from?: number | undefined;
  /** The most rows to return, 1 to 1,000; 100 by default. Fewer come where they are long. */
  readonly limit?: number | undefined;
  /** Only rows with a result, or only rows with an error. All by default. */
  readonly only?: 'finished' | 'failed' | undefined;
  /** Only rows whose input or result has this text, in any case. */
  readonly search?: string | undefined;
}

/** Rows in file order. */
export interface RowsPage {
  /** The rows. May be empty, although `next` is set: then the search goes on there. */
  readonly rows: readonly JobRow[];
  /** Where to go on reading; undefined after the last row. */
  readonly next: number | undefined;
}

/** One row of a job. */
export interface JobRow {
  /** Its place in the file, from 0. */
  readonly index: number;
  /** The row's columns; of a job from `requests` the line of the file, such as `custom_id` and `body`. */
  readonly input: Readonly<Record<string, unknown>>;
  /** The row as it is stored: the text of a JSON object, with its columns in their order and its numbers as they were written. */
  readonly json: string;
  /** Left out while the row waits or runs. */
  readonly result?: JobResult;
}

/** One row's outcome, with its place and input. */
export interface RowResult extends JobRow {
  /** Its answer or error. */
  readonly result: JobResult;
}

/** How to write a CSV file. */
export interface CsvOptions {
  /**
   * Whether cells that a spreadsheet would run as a formula get a `'` in front: those that begin with `=`, `+`, `-`, `@`, a tab or a
   * carriage return, and are no number. True by default. False writes all cells as they are, for programs.
   */
  readonly escapeFormulas?: boolean | undefined;
  /** Whether the file begins with a byte order mark, by which Excel knows that it is UTF-8. False by default. */
  readonly byteOrderMark?: boolean | undefined;
}

/**
 * A prompt that runs over many rows. It lives on this device, for all tabs of the app: closing this tab, a crash or a reload
 * interrupts no row for good.
 */
export interface Job {
  /** Unique over all jobs of the app. Later jobs have greater IDs. */
  readonly id: string;
  /** The last state that the worker reported. */
  readonly info: JobInfo;
  /**
   * Calls the listener with each new state, at most every 250 ms, and with the current one at once. `undefined` once the job is
   * deleted, which is the last call.
   *
   * @returns A function that unsubscribes.
   */
  subscribe(listener: (info: JobInfo | undefined) => void): () => void;
  /**
   * The outcome of each row, in file order, as they come. Ends after the last row, and skips rows that a cancelled job never ran.
   *
   * @throws JobNotFoundError once the job is deleted.
   */
  results(): AsyncGenerator<RowResult, void, undefined>;
  /** Some rows with their input, done or not: for a table. */
  rows(options?: ReadRowsOptions): Promise<RowsPage>;
  /** Resolves with the state once no row is left to run: finished, cancelled or failed. */
  done(): Promise<JobInfo>;
  /** Stops the job. The rows that run now are dropped, and run again after `resume()`, with the same text. */
  pause(): Promise<void>;
  /** Goes on after `pause()`, with the model that serves now; also a cancelled job. */
  resume(): Promise<void>;
  /** Ends the job. The rows that are done keep their results. */
  cancel(): Promise<void>;
  /** Runs the rows that failed again. */
  retryFailed(): Promise<void>;
  /**
   * Runs a row that is done again. Its result is gone at once, and the job goes on until it has a new one.
   *
   * @param seed Random by default, for another answer where the options draw one. The lines of a batch file keep a seed of their own.
   * @throws InvalidOptionError for an index that the job doesn't have, and for a cancelled job, which `resume()` runs again.
   */
  rerun(index: number, seed?: number): Promise<void>;
  /** Gives the job another name. */
  rename(name: string): Promise<void>;
  /** Deletes the job with its rows and results. */
  delete(): Promise<void>;
  /**
   * The rows as a file, in file order, as UTF-8. Rows that are not done yet have empty results in CSV, and are left out in JSONL.
   *
   * `csv`: the columns of the first row, then `result` and `error`; the properties of a JSON Schema, `choiceProbabilities`,
   * `logprobs` and `embedding` have columns of their own. `jsonl`: the row as it was given, and `result` or `error`; of a job from `requests`, the
   * lines of an OpenAI output file. Where the row has a column of such a name, ours gets a `_` behind it.
   *
   * @param options For `csv` alone.
   */
  export(format: 'csv' | 'jsonl', options?: CsvOptions): ReadableStream<Uint8Array<ArrayBuffer>>;
}

/** The jobs of the app, on this device. */
export interface Jobs {
  /**
   * Stores the rows, then starts the job. Resolves once all rows are stored; the job then runs whether or not this tab stays open.
   *
   * @throws JobColumnError if the template names a column that the first row lacks; JobRowError for no rows, and for two
   *   requests with one `custom_id`; InvalidOptionError and UnknownOptionError for wrong options; StorageQuotaError if the rows
   *   don't fit; JobStoreError where the browser has no storage; what the source throws. Then no job is left.
   */
  create(options: CreateJobOptions): Promise<Job>;
  /** All stored jobs, the latest first. */
  list(): Promise<readonly Job[]>;
  /** @throws JobNotFoundError. */
  get(id: string): Promise<Job>;
  /**
   * Calls the listener with all jobs, the latest first: at first, and after each change in any tab, at most every 250 ms.
   *
   * @returns A function that unsubscribes.
   */
  subscribe(listener: (jobs: readonly Job[]) => void): () => void;
}
