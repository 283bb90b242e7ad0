import * as v from 'valibot';
import { answer, toolCall } from './answers.ts';
import { finishReason } from './generation.ts';
import { count, duration, name, record, wireError, type Wire } from './wire.ts';

const jobState = v.picklist(['queued', 'running', 'paused', 'finished', 'cancelled', 'failed']);
/**
 * `queued`: another job runs before it. `running`. `paused`: by `pause()`, or for the reason in `error`. `finished`: each row has
 * a result or an error. `cancelled`: the rows that were done keep their results. `failed`: its stored files can't be read.
 *
 * @useDeclaredType
 */
export type JobState = Wire<typeof jobState>;

const jobCounts = v.object({
  /** Rows of the job. */
  total: count,
  /** Rows with a result. */
  finished: count,
  /** Rows that ended with an error. */
  failed: count,
});
/**
 * The rows of a job, by how far they are. The others wait or run.
 *
 * @interface
 */
export type JobCounts = Wire<typeof jobCounts>;

const jobProgress = v.object({
  /** Over the last ten seconds. */
  rowsPerSecond: v.number(),
  /** Output tokens, or tokens read by the embedder. Over the last ten seconds. */
  tokensPerSecond: v.number(),
  /** Until the last row is done, in ms, at this rate. Left out while no row has been done. */
  remainingMs: v.exactOptional(duration),
});
/**
 * How fast a job runs.
 *
 * @interface
 */
export type JobProgress = Wire<typeof jobProgress>;

export const jobTotals = v.object({
  /** Until the last of these rows was done, without the time in which the job waited or was paused. */
  durationMs: duration,
  /** Rows that have run. One that ran again counts twice. */
  numRows: count,
  /** Tokens of their prompts. */
  numPromptTokens: count,
  /** Tokens of their answers; 0 by the embedder. */
  numOutputTokens: count,
});
/**
 * What the rows of a job have taken so far. A browser that is killed loses what it took in up to ten seconds.
 *
 * @interface
 */
export type JobTotals = Wire<typeof jobTotals>;

const jobDeployment = v.picklist(['text-generator', 'embedder']);
/** The deployment that answers the rows of a job. */
export type JobDeployment = Wire<typeof jobDeployment>;

export const jobDefinition = v.object({
  /** Unique over all jobs of the app. Later jobs have greater IDs. */
  id: name,
  /** ISO 8601. */
  createdAt: v.string(),
  /** `rows`: records that fill a template. `requests`: lines of an OpenAI batch file. */
  source: v.picklist(['rows', 'requests']),
  deployment: jobDeployment,
  /** The prompt, or the text to embed, with `{{column}}`. */
  template: v.exactOptional(v.string()),
  /** The system message. May have `{{column}}` too. */
  system: v.exactOptional(v.string()),
  /** Whether each row is a chat: `system`, then the template as the user's message. */
  isChat: v.boolean(),
  /** Options of every row. */
  options: record,
  /** The row at index i has the seed `(seed + i) mod 2^32`, unless its own request sets one. */
  seed: count,
  /** Columns of the first row, in order. Empty for requests. */
  columns: v.array(v.string()),
});
/** The part of a job that never changes. */
export type JobDefinition = Wire<typeof jobDefinition>;

export const jobInfo = v.object({
  ...jobDefinition.entries,
  /** Which deployment answers its rows. */
  deployment: jobDeployment,
  /** The name that its user has given it. */
  name: v.string(),
  /** Where the job stands. */
  state: jobState,
  /** Its rows by their state. */
  counts: jobCounts,
  /** Set while it runs. */
  progress: v.exactOptional(jobProgress),
  /** Left out before the first row is done. */
  totals: v.exactOptional(jobTotals),
  /** How often rows were run again, by `retryFailed` or `rerun`: a change says that rows that were done may have other results. */
  numRetries: count,
  /** The model that answers its rows, from the first row on. */
  model: v.exactOptional(v.string()),
  /**
   * Why it is paused or has failed: `STORAGE_QUOTA`, `JOB_MODEL_CHANGED`, `JOB_STORE_FAILED`, or the error of a model that can't
   * serve. It goes on by itself once the cause is gone. Left out after `pause()`.
   */
  error: v.exactOptional(wireError),
});
/**
 * A job as all tabs see it.
 *
 * @interface
 */
export type JobInfo = Wire<typeof jobInfo>;

const tokenEntries = {
  /** Index in the model's vocabulary. */
  tokenId: count,
  /** Its own text: empty for a special token, U+FFFD for a part of a character. */
  text: v.string(),
  /** The logarithm of its probability; -9999 for a probability of 0. */
  logprob: v.number(),
};
const tokenLogprobs = v.array(
  v.object({
    ...tokenEntries,
    /** The likeliest tokens in its place, as many as `logprobs` asks for. */
    top: v.array(v.object(tokenEntries)),
  }),
);

const jobChoice = v.object({
  /** The generated text. */
  text: v.string(),
  /** Why it ended. */
  finishReason,
  /** A chat's answer in parts, with its calls of tools. */
  answer: v.exactOptional(answer),
  /** Its tokens, if the request has `logprobs`. */
  logprobs: v.exactOptional(tokenLogprobs),
});

const jobResult = v.object({
  /** The generated text; for a chat the answer. Left out by the embedder. */
  text: v.exactOptional(v.string()),
  /** The vector of the text, by the embedder. */
  embedding: v.exactOptional(v.array(v.number())),
  /** The vectors of a request with a list of texts. */
  embeddings: v.exactOptional(v.array(v.array(v.number()))),
  /** Why the text ended. */
  finishReason: v.exactOptional(finishReason),
  /** The probability of each of the `choices` of a `responseFormat`, in their order, if the job's options have `logprobs`. */
  choiceProbabilities: v.exactOptional(v.array(v.number())),
  /** The tokens of the text of a row of a table, if the job's options have `logprobs` and no `choice`. */
  logprobs: v.exactOptional(tokenLogprobs),
  /** The tools that the answer calls, of a row of a table. */
  toolCalls: v.exactOptional(v.array(toolCall)),
  /** All continuations of a row of `requests`, with their calls of tools. */
  choices: v.exactOptional(v.array(jobChoice)),
  /** Tokens of the prompt, special ones included. */
  numPromptTokens: count,
  /** 0 by the embedder. */
  numOutputTokens: count,
  /** Why the row has no result. The other fields then say nothing. */
  error: v.exactOptional(wireError),
});
/**
 * The outcome of one row: an answer or an error.
 *
 * @interface
 */
export type JobResult = Wire<typeof jobResult>;

export const jobRow = v.object({
  /** Its place in the file, from 0. */
  index: count,
  /** The text of a JSON object: see job-cells.ts. */
  json: v.string(),
  /** Left out while the row waits or runs. */
  result: v.exactOptional(jobResult),
});
/** A row as the worker stores it. */
export type StoredRow = Wire<typeof jobRow>;

export const jobPage = v.object({
  rows: v.array(jobRow),
  /** Left out after the last row. */
  next: v.exactOptional(count),
});

/** The most rows that are read or added at once. */
export const MAX_ROWS_PER_CALL = 1000;

/** Which of a job's rows to read. */
export const rowQuery = {
  from: count,
  limit: v.pipe(count, v.maxValue(MAX_ROWS_PER_CALL)),
  only: v.exactOptional(v.picklist(['finished', 'failed'])),
  search: v.exactOptional(v.string()),
};

export const jobAction = v.picklist(['pause', 'resume', 'cancel', 'retry-failed', 'delete']);
