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

  static of(host: string, cause: unknown): HubUnreachableError {
    const isOffline = !navigator.onLine;
    return new HubUnreachableError(
      isOffline
        ? `Couldn't reach ${host}: this device is offline. Connect it and load again; the download continues where it stopped.`
        : `Couldn't reach ${host}: it gave no answer, stopped in the middle, cut the connection, or hides its answer from this page (CORS). Check the hub's address and load again; the download continues where it stopped.`,
      { cause },
    );
  }
}

/** The hub answered with a 5xx status. */
export class HubUnavailableError extends HubError {
  override readonly name = 'HubUnavailableError';
  readonly code = 'HUB_UNAVAILABLE';

  static of(host: string, status: number, retryAfterMs: number): HubUnavailableError {
    return new HubUnavailableError(
      `${host} failed (HTTP status ${status}). Load again later; the download continues where it stopped.`,
      { retryAfterMs },
    );
  }
}

/** The hub limits requests from this address. */
export class HubRateLimitError extends HubError {
  override readonly name = 'HubRateLimitError';
  readonly code = 'HUB_RATE_LIMITED';

  static of(host: string, retryAfterMs: number): HubRateLimitError {
    const wait = retryAfterMs > 0 ? `in ${Math.ceil(retryAfterMs / 1000)} s` : 'in a few minutes';
    return new HubRateLimitError(
      `${host} got too many requests from this address (HTTP status 429). Load again ${wait}; the download continues where it stopped.`,
      { retryAfterMs },
    );
  }
}

/** The hub's address answers, but not like a hub. A network's sign-in page, a proxy or another server may be in between. */
export class HubAnswerError extends HubError {
  override readonly name = 'HubAnswerError';
  readonly code = 'HUB_BAD_ANSWER';

  constructor(message: string) {
    super(message, { maxFailures: 1 });
  }

  /** @param what Names the thing that was requested. */
  static page(host: string, what: string): HubAnswerError {
    return new HubAnswerError(
      `${host} answered with a web page instead of ${what}. Open ${host} in a new tab: this network may want you to sign in, or no hub is at this address. Then load again; the download continues where it stopped.`,
    );
  }

  static of(host: string, detail: string): HubAnswerError {
    return new HubAnswerError(
      `${host} doesn't answer as a hub does: ${detail}. Check the hub's address, or load again later; the download continues where it stopped.`,
    );
  }
}

/** The hub redirects a request to where this page gets no answer. */
export class HubRedirectError extends HubError {
  override readonly name = 'HubRedirectError';
  readonly code = 'HUB_REDIRECT_FAILED';

  /** @param what Names the thing that was requested. */
  static of(host: string, what: string, cause: unknown): HubRedirectError {
    return new HubRedirectError(
      `${host} redirects ${what}, and the redirect fails: it leads in a circle, or to a host that gives no answer or hides it from this page (CORS). Load again later, or from another hub; the download continues where it stopped.`,
      { maxFailures: 3, cause },
    );
  }

  static byPolicy(host: string, what: string, cause: unknown): HubRedirectError {
    return new HubRedirectError(
      `${host} redirects ${what} to a host that this page's policy (connect-src) forbids. Allow that host (\`--hub URL\` of the server), or load from another hub; the download continues where it stopped.`,
      { maxFailures: 1, cause },
    );
  }
}

/** The model exists, but the hub restricts access to it (401 or 403). */
export class ModelAccessError extends codedError('ModelAccessError', 'MODEL_ACCESS_DENIED') {
  static of(id: string, host: string, status: number, isGated: boolean): ModelAccessError {
    return new ModelAccessError(
      isGated
        ? `${id} is gated (HTTP status ${status}). Ask its authors for access on ${host}, download the files there and load the folder.`
        : `${host} denies access to ${id} (HTTP status ${status}). Download the files with your account and load the folder.`,
    );
  }
}

/** The hub has no such model, revision or file (404). */
export class ModelNotFoundError extends codedError('ModelNotFoundError', 'MODEL_NOT_FOUND') {
  static of(id: string, host: string, what: string): ModelNotFoundError {
    return new ModelNotFoundError(
      `${host} has no ${what} of ${id}. Check the id (\`owner/name\`) and the revision. A private model looks like a missing one.`,
    );
  }
}

/** The browser gives this site less storage than the model needs. */
export class StorageQuotaError extends codedError('StorageQuotaError', 'STORAGE_QUOTA') {
  static of(neededBytes: number, cause?: unknown): StorageQuotaError {
    return new StorageQuotaError(
      `The model needs ${inMegabytes(neededBytes)} of storage, more than the browser has left for this site. ` +
        'Delete stored models, free space on the disk, or choose a smaller model.',
      { cause },
    );
  }

  static ofJob(cause: unknown): StorageQuotaError {
    return new StorageQuotaError(
      'The browser has no storage left for this site. Delete stored jobs or models, or free space on the disk; a job that runs then goes on by itself.',
      { cause },
    );
  }

  /** Storage ran out although the browser estimated enough. */
  static because(cause: unknown): StorageQuotaError {
    return new StorageQuotaError(
      'The browser has no storage left for this site. Delete stored models, free space on the disk, or choose a smaller model.',
      { cause },
    );
  }
}

/** The browser's private file system (OPFS) is missing, or a worker of another window holds it. */
export class ModelStoreError extends codedError('ModelStoreError', 'MODEL_STORE_FAILED') {
  static because(cause: unknown): ModelStoreError {
    return new ModelStoreError(
      `Couldn't use the browser's storage for models (${String(cause)}), so only the embedded model runs. Close other windows of this page, leave private browsing, or use another browser.`,
      { cause },
    );
  }
}

/** Each time a stored model was started, its page or worker ended before the model was ready. */
export class ModelStartError extends codedError('ModelStartError', 'MODEL_START_FAILED') {
  static of(id: string): ModelStartError {
    return new ModelStartError(
      `Couldn't start ${id}: its last starts broke off. Using the embedded model instead. Load ${id} again, or a smaller model.`,
    );
  }
}

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

function inMegabytes(bytes: number): string {
  return `${Math.ceil(bytes / 1e6).toLocaleString('en')} MB`;
}
