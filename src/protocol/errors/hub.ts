import { codedError } from './coded-error.ts';

/** How to continue after a hub has failed. */
export interface HubErrorOptions extends ErrorOptions {
  /** The wait that the server asks for, in ms; 0, the default, if it asks for none. */
  readonly retryAfterMs?: number;
  /** Give up after this many failures in a row. The caller may give up earlier. */
  readonly maxFailures?: number;
}

/** The hub, or the way to it, failed. Downloaded parts are kept, and a later load continues from there. */
export class HubError extends Error {
  /** The wait that the server asks for, in ms; 0 if it asks for none. */
  readonly retryAfterMs: number;
  /** The load is given up after this many failures in a row. */
  readonly maxFailures: number;

  constructor(
    message: string,
    { retryAfterMs = 0, maxFailures = Infinity, ...options }: HubErrorOptions = {},
  ) {
    super(message, options);
    this.retryAfterMs = retryAfterMs;
    this.maxFailures = maxFailures;
  }
}

/** The hub gave no answer, or the connection broke. */
export class HubUnreachableError extends HubError {
  override readonly name = 'HubUnreachableError';
  readonly code = 'HUB_UNREACHABLE';
}

/** The hub answered with a 5xx status. */
export class HubUnavailableError extends HubError {
  override readonly name = 'HubUnavailableError';
  readonly code = 'HUB_UNAVAILABLE';
}

/** The hub limits requests from this address. */
export class HubRateLimitError extends HubError {
  override readonly name = 'HubRateLimitError';
  readonly code = 'HUB_RATE_LIMITED';
}

/** The hub's address answers, but not like a hub. A network's sign-in page, a proxy or another server may be in between. */
export class HubAnswerError extends HubError {
  override readonly name = 'HubAnswerError';
  readonly code = 'HUB_BAD_ANSWER';

  constructor(message: string) {
    super(message, { maxFailures: 1 });
  }
}

/** The hub redirects a request to where this page gets no answer. */
export class HubRedirectError extends HubError {
  override readonly name = 'HubRedirectError';
  readonly code = 'HUB_REDIRECT_FAILED';
}

/** The model exists, but the hub restricts access to it (401 or 403). */
export class ModelAccessError extends codedError('ModelAccessError', 'MODEL_ACCESS_DENIED') {}

/** The hub has no such model, revision or file (404). */
export class ModelNotFoundError extends codedError('ModelNotFoundError', 'MODEL_NOT_FOUND') {}

/** The browser gives this site less storage than the model needs. */
export class StorageQuotaError extends codedError('StorageQuotaError', 'STORAGE_QUOTA') {}

/** The browser's private file system (OPFS) is missing, or a worker of another window holds it. */
export class ModelStoreError extends codedError('ModelStoreError', 'MODEL_STORE_FAILED') {}

/** The model that ran before is no longer on this device: it was deleted, or the site's data was cleared. */
export class ModelDeletedError extends codedError('ModelDeletedError', 'MODEL_DELETED') {}

/** The model to delete runs now. */
export class ModelInUseError extends codedError('ModelInUseError', 'MODEL_IN_USE') {}

/** Each time a stored model was started, its page or worker ended before the model was ready. */
export class ModelStartError extends codedError('ModelStartError', 'MODEL_START_FAILED') {}

/**
 * The load was cancelled, or replaced by a load of another model. If the caller's own signal cancelled it, its `name` is `AbortError`
 * and its `cause` is the signal's reason.
 */
export class LoadCancelledError extends codedError('LoadCancelledError', 'LOAD_CANCELLED') {
  static byCaller(id: string, reason: unknown): LoadCancelledError {
    const error = new LoadCancelledError(`The caller stopped loading ${id}.`, { cause: reason });
    return Object.assign(error, { name: 'AbortError' });
  }

  static of(id: string, why: string): LoadCancelledError {
    return new LoadCancelledError(
      `Stopped loading ${id} (${why}). Load it again to continue where it stopped.`,
    );
  }
}
