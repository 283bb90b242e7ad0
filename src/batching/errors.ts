/** The handler returned (or yielded) something that is not one entry per item. */
export class BatchSizeMismatchError extends Error {
  override readonly name = 'BatchSizeMismatchError';
  readonly code = 'BATCH_SIZE_MISMATCH';

  static of(inputLength: number, outputLength: number | 'not an array'): BatchSizeMismatchError {
    return new BatchSizeMismatchError(
      `Batched function doesn't preserve batch size. The input list has length ${inputLength} ` +
        `but the returned list has length ${outputLength}.`,
    );
  }
}

/** One item alone is larger than `maxBatchSize` under `batchSizeFn`. */
export class ItemTooLargeError extends Error {
  override readonly name = 'ItemTooLargeError';
  readonly code = 'ITEM_TOO_LARGE';

  static of(size: number, maxBatchSize: number): ItemTooLargeError {
    return new ItemTooLargeError(
      `The item measures ${size}, which exceeds maxBatchSize (${maxBatchSize}): ` +
        'raise maxBatchSize, split the item, or check batchSizeFn.',
    );
  }
}

export interface BackPressureDetails {
  readonly numQueuedRequests: number;
  readonly maxQueuedRequests: number;
  /** When a place is likely to be free, from the measured drain rate, in ms. */
  readonly retryAfterMs: number;
}

/** The waiting queue is at `maxQueuedRequests`; nothing that was accepted before is affected. */
export class BackPressureError extends Error {
  override readonly name = 'BackPressureError';
  readonly code = 'BACK_PRESSURE';
  readonly details: BackPressureDetails;

  constructor(message: string, details: BackPressureDetails) {
    super(message);
    this.details = details;
  }

  static of(details: BackPressureDetails): BackPressureError {
    const { numQueuedRequests, maxQueuedRequests, retryAfterMs } = details;
    return new BackPressureError(
      `Request dropped due to back pressure (num_queued_requests=${numQueuedRequests}, ` +
        `max_queued_requests=${maxQueuedRequests}): retry in about ${Math.ceil(retryAfterMs)} ms, ` +
        'or raise maxQueuedRequests.',
      details,
    );
  }

  get numQueuedRequests(): number {
    return this.details.numQueuedRequests;
  }

  get maxQueuedRequests(): number {
    return this.details.maxQueuedRequests;
  }

  get retryAfterMs(): number {
    return this.details.retryAfterMs;
  }
}

/** The caller cancelled; `cause` is the signal's reason where a signal did it. */
export class RequestCancelledError extends Error {
  override readonly name = 'RequestCancelledError';
  readonly code = 'REQUEST_CANCELLED';

  static because(reason: unknown): RequestCancelledError {
    return new RequestCancelledError(
      'The request was cancelled by its caller: submit it again if it is still wanted.',
      {
        cause: reason,
      },
    );
  }
}

/** Not there in time: `timeoutMs` of a request, which has ended, or of `result()`, whose request goes on. */
export class RequestTimeoutError extends Error {
  override readonly name = 'RequestTimeoutError';
  readonly code = 'REQUEST_TIMEOUT';

  static ofRequest(timeoutMs: number): RequestTimeoutError {
    return new RequestTimeoutError(
      `The request did not end within ${timeoutMs} ms of its submission and was ended: ` +
        'raise timeoutMs, or ask for fewer tokens.',
    );
  }

  static ofResult(timeoutMs: number): RequestTimeoutError {
    return new RequestTimeoutError(
      `The result did not come within ${timeoutMs} ms: call result() again to wait on, or cancel().`,
    );
  }
}

/** A call after `close()`. */
export class ClosedError extends Error {
  override readonly name = 'ClosedError';
  readonly code = 'CLOSED';
}

/** An option is of the wrong type or out of its range; the value in force is unchanged. */
export class InvalidOptionError extends Error {
  override readonly name = 'InvalidOptionError';
  readonly code = 'INVALID_OPTION';

  static of(option: string, expected: string, got: unknown): InvalidOptionError {
    return new InvalidOptionError(describeInvalid(option, expected, got));
  }

  /** Requests that are accepted together or not at all, and that even an empty queue cannot hold. */
  static ofCrowd(numRequests: number, maxQueuedRequests: number): InvalidOptionError {
    return new InvalidOptionError(
      `These ${numRequests} sequences can never be admitted: the queue holds ${maxQueuedRequests} (maxQueuedRequests). ` +
        'Send fewer prompts at a time, lower n, or raise maxQueuedRequests.',
    );
  }
}

/** An option that does not exist, often a spelling mistake; never ignored in silence. */
export class UnknownOptionError extends Error {
  override readonly name = 'UnknownOptionError';
  readonly code = 'UNKNOWN_OPTION';

  static of(option: string, known: readonly string[]): UnknownOptionError {
    return new UnknownOptionError(`Unknown option \`${option}\`: the options are ${known.join(', ')}.`);
  }
}

/** The K/V cache of one request alone would be larger than it may be. */
export class KvBudgetError extends Error {
  override readonly name = 'KvBudgetError';
  readonly code = 'KV_BUDGET';

  /** @param numTokens Prompt and output together, at most. */
  static of(numTokens: number, neededBytes: number, maxBytes: number): KvBudgetError {
    return new KvBudgetError(
      `${numTokens} tokens take ${mebibytes(neededBytes)} of K/V cache, and it may have ${mebibytes(maxBytes)}: ` +
        'lower maxNewTokens, shorten the prompt, or raise kvCacheMemoryBytes as far as the device allows.',
    );
  }
}

/** The model runner failed on the step that this request was part of. */
export class ModelRunError extends Error {
  override readonly name = 'ModelRunError';
  readonly code = 'MODEL_RUN_FAILED';

  static because(cause: unknown): ModelRunError {
    const detail = cause instanceof Error ? cause.message : String(cause);
    return new ModelRunError(`The model run failed (${detail}): submit the request again.`, { cause });
  }

  /** @param detail Of the last run. */
  static ofEvery(detail: string, remedy: string): ModelRunError {
    return new ModelRunError(`Every run of this request failed (${detail}): ${remedy}.`);
  }
}

/** The `stopsAfter` of a request threw; its batch-mates go on. */
export class StopConditionError extends Error {
  override readonly name = 'StopConditionError';
  readonly code = 'STOP_CONDITION_FAILED';

  static because(cause: unknown): StopConditionError {
    const detail = cause instanceof Error ? cause.message : textOf(cause);
    return new StopConditionError(
      `The request's stopsAfter threw (${detail}): submit it again with one that never throws.`,
      { cause },
    );
  }
}

function mebibytes(bytes: number): string {
  return `${(bytes / 2 ** 20).toFixed(1)} MiB`;
}

/** The one shape of every complaint about a value: Expected `x` to be …, got `v` (type). */
export function describeInvalid(option: string, expected: string, got: unknown): string {
  return `Expected \`${option}\` to be ${expected}, got \`${textOf(got)}\` (${typeof got})`;
}

/** As `String`, of values too that refuse to be one: an object without a prototype, say. */
export function textOf(value: unknown): string {
  try {
    return String(value);
  } catch {
    return Object.prototype.toString.call(value);
  }
}
