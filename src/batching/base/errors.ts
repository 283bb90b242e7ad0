/** The handler of a batch returned or yielded something other than one entry per item. */
export class BatchSizeMismatchError extends Error {
  override readonly name = 'BatchSizeMismatchError';
  readonly code = 'BATCH_SIZE_MISMATCH';
}

/** `batchSizeFn` measures one item alone as larger than `maxBatchSize`. */
export class ItemTooLargeError extends Error {
  override readonly name = 'ItemTooLargeError';
  readonly code = 'ITEM_TOO_LARGE';
}

/** How full the queue is. */
export interface BackPressureDetails {
  /** Requests that wait. */
  readonly numQueuedRequests: number;
  /** The limit in force. */
  readonly maxQueuedRequests: number;
  /** How long until a place is likely to be free, by the measured drain rate, in ms. */
  readonly retryAfterMs: number;
}

/** The queue is full (`maxQueuedRequests`). Requests that were accepted before go on. */
export class BackPressureError extends Error {
  override readonly name = 'BackPressureError';
  readonly code = 'BACK_PRESSURE';
  /** Requests that wait. */
  readonly numQueuedRequests: number;
  /** The limit in force. */
  readonly maxQueuedRequests: number;
  /** How long until a place is likely to be free, by the measured drain rate, in ms. */
  readonly retryAfterMs: number;

  constructor(message: string, { numQueuedRequests, maxQueuedRequests, retryAfterMs }: BackPressureDetails) {
    super(message);
    this.numQueuedRequests = numQueuedRequests;
    this.maxQueuedRequests = maxQueuedRequests;
    this.retryAfterMs = retryAfterMs;
  }
}

/**
 * The caller cancelled the request. Its `name` is `AbortError`, as for everything that a signal ends. `cause` is the reason of the signal, if
 * a signal did it.
 */
export class RequestCancelledError extends Error {
  override readonly name = 'AbortError';
  readonly code = 'REQUEST_CANCELLED';

  static because(reason: unknown): RequestCancelledError {
    return new RequestCancelledError('The caller cancelled the request.', { cause: reason });
  }
}

/** A `timeoutMs` passed: that of a request, which has ended, or that of `result()`, whose request goes on. */
export class RequestTimeoutError extends Error {
  override readonly name = 'RequestTimeoutError';
  readonly code = 'REQUEST_TIMEOUT';

  static ofResult(timeoutMs: number): RequestTimeoutError {
    return new RequestTimeoutError(
      `There is no result after ${timeoutMs} ms. Call result() again to keep waiting, or cancel().`,
    );
  }
}

/** Something was called after `close()`. */
export class ClosedError extends Error {
  override readonly name = 'ClosedError';
  readonly code = 'CLOSED';

  static ofClient(): ClosedError {
    return new ClosedError('This client is closed: call connect() for a new one.');
  }
}

/** An option has the wrong type or is out of its range. The value in force is unchanged. */
export class InvalidOptionError extends Error {
  override readonly name = 'InvalidOptionError';
  readonly code = 'INVALID_OPTION';
  /** The option's name without an index, if the message is about one option. */
  readonly param: string | undefined;

  constructor(message: string, param?: string) {
    super(message);
    this.param = param;
  }

  /**
   * For a `checkInput` of your own: "Expected `input` to be a string, got `3` (number)".
   *
   * @param option Names the input or the option.
   * @param expected What it has to be.
   * @param got What it is.
   */
  static of(option: string, expected: string, got: unknown): InvalidOptionError {
    return new InvalidOptionError(describeInvalid(option, expected, got), withoutIndex(option));
  }
}

/** The option does not exist: often a spelling mistake. */
export class UnknownOptionError extends Error {
  override readonly name = 'UnknownOptionError';
  readonly code = 'UNKNOWN_OPTION';
  /** The name that no option has. */
  readonly param: string | undefined;

  constructor(message: string, param?: string) {
    super(message);
    this.param = param;
  }

  /** @param known What there is instead, as "the options are …". */
  static of(option: string, known: string): UnknownOptionError {
    return new UnknownOptionError(`Unknown option \`${shown(option)}\`: ${known}.`, withoutIndex(option));
  }
}

/** The `responseFormat` can't be compiled, or a part of it can't be enforced. */
export class ResponseFormatUnsupportedError extends Error {
  override readonly name = 'ResponseFormatUnsupportedError';
  readonly code = 'RESPONSE_FORMAT_UNSUPPORTED';
  /** The part of the option, as `responseFormat.schema.properties.age.multipleOf`. */
  readonly param: string | undefined;

  constructor(message: string, param?: string) {
    super(message);
    this.param = param;
  }

  /** @param remedy What to do, as "leave it out". */
  static of(param: string, reason: string, remedy: string): ResponseFormatUnsupportedError {
    const part = shown(param, 300);
    return new ResponseFormatUnsupportedError(`\`${part}\` ${reason}: ${remedy}.`, part);
  }
}

/** One request alone needs more K/V cache than the limit allows. */
export class KvBudgetError extends Error {
  override readonly name = 'KvBudgetError';
  readonly code = 'KV_BUDGET';
}

/** The model failed in a step of this request. */
export class ModelRunError extends Error {
  override readonly name = 'ModelRunError';
  readonly code = 'MODEL_RUN_FAILED';
}

/** The constraint of a request threw. Its batch-mates go on. */
export class StopConditionError extends Error {
  override readonly name = 'StopConditionError';
  readonly code = 'STOP_CONDITION_FAILED';
}

/**
 * For an argument without which a public function can do nothing.
 *
 * @param expected As in "Expected `x` to be …".
 * @param called The function's name.
 */
export function wrongArgument(
  argument: string,
  expected: string,
  called: string,
  got: unknown,
): InvalidOptionError {
  return InvalidOptionError.of(argument, `${expected} for ${called}()`, got);
}

/** `logitBias` for `logitBias[262]`. */
export function withoutIndex(option: string): string {
  return shown(textOf(option).split('[', 1)[0]);
}

/** Words every complaint about a value alike: Expected `x` to be …, got `v` (type). */
export function describeInvalid(option: string, expected: string, got: unknown): string {
  return `Expected \`${shown(option)}\` to be ${textOf(expected)}, got \`${shown(got)}\` (${typeof got})`;
}

/**
 * The beginning of any value. Messages quote whatever comes from outside through this, and so stay short.
 *
 * @param maxLength In UTF-16 code units.
 */
export function shown(value: unknown, maxLength = 100): string {
  const text = textOf(value);
  return text.length > maxLength ? `${text.slice(0, maxLength).toWellFormed()}…` : text;
}

/** Like `String`, but works for every value, even an object without a prototype. */
export function textOf(value: unknown): string {
  try {
    return String(value);
  } catch {
    return Object.prototype.toString.call(value);
  }
}
