/** Failures of the hub that may be over soon: the same request is made again, after a pause. */
export type TransientHubError = HubUnreachableError | HubUnavailableError | HubRateLimitError;

/** No answer, or one that was cut off: no network, or a server that is not there. */
export class HubUnreachableError extends Error {
  override readonly name = 'HubUnreachableError';
  readonly code = 'HUB_UNREACHABLE';
  readonly retryAfterMs = 0;

  static of(host: string, cause: unknown): HubUnreachableError {
    const isOffline = !navigator.onLine;
    return new HubUnreachableError(
      isOffline
        ? `Couldn't reach ${host}: this device is offline. Connect it and load again. What was downloaded is kept.`
        : `Couldn't reach ${host}: it gave no answer, cut the connection, or hides its answer from this page (CORS). Check the hub's address and load again. What was downloaded is kept.`,
      { cause },
    );
  }
}

/** 5xx. */
export class HubUnavailableError extends Error {
  override readonly name = 'HubUnavailableError';
  readonly code = 'HUB_UNAVAILABLE';
  /** As the server asks; 0 where it does not. */
  readonly retryAfterMs: number;

  constructor(message: string, retryAfterMs = 0) {
    super(message);
    this.retryAfterMs = retryAfterMs;
  }

  static of(host: string, status: number, retryAfterMs: number): HubUnavailableError {
    return new HubUnavailableError(
      `${host} is out of order (HTTP status ${status}): load again in a while. What is here already is kept.`,
      retryAfterMs,
    );
  }
}

/** 429. */
export class HubRateLimitError extends Error {
  override readonly name = 'HubRateLimitError';
  readonly code = 'HUB_RATE_LIMITED';
  /** As the server asks; 0 where it does not. */
  readonly retryAfterMs: number;

  constructor(message: string, retryAfterMs = 0) {
    super(message);
    this.retryAfterMs = retryAfterMs;
  }

  static of(host: string, retryAfterMs: number): HubRateLimitError {
    const wait = retryAfterMs > 0 ? `in ${Math.ceil(retryAfterMs / 1000)} s` : 'in a few minutes';
    return new HubRateLimitError(
      `${host} has had too many requests from this address (HTTP status 429): load again ${wait}. What is here already is kept.`,
      retryAfterMs,
    );
  }
}

/** 401 or 403 of a model that is there. */
export class ModelAccessError extends Error {
  override readonly name = 'ModelAccessError';
  readonly code = 'MODEL_ACCESS_DENIED';

  static of(id: string, host: string, status: number, isGated: boolean): ModelAccessError {
    return new ModelAccessError(
      isGated
        ? `${id} is gated: its authors give access on request (HTTP status ${status}). Ask for it on ${host}, download the files there and load the folder.`
        : `${host} does not give ${id} to everybody (HTTP status ${status}): download its files with your account and load the folder.`,
    );
  }
}

/** 404, of the model, of its revision or of a file. */
export class ModelNotFoundError extends Error {
  override readonly name = 'ModelNotFoundError';
  readonly code = 'MODEL_NOT_FOUND';

  static of(id: string, host: string, what: string): ModelNotFoundError {
    return new ModelNotFoundError(
      `${host} has no ${what} of ${id}: check the id (\`owner/name\`) and the revision. A private model looks like one that is not there.`,
    );
  }
}

/** The browser gives this site less room than the model takes. */
export class StorageQuotaError extends Error {
  override readonly name = 'StorageQuotaError';
  readonly code = 'STORAGE_QUOTA';

  static of(neededBytes: number, cause?: unknown): StorageQuotaError {
    return new StorageQuotaError(
      `The model takes ${inMegabytes(neededBytes)} of storage, more than the browser has left for this site: ` +
        'delete stored models, free space on the disk, or choose a smaller model.',
      { cause },
    );
  }

  /** Space ran out although the estimate had promised enough. */
  static because(cause: unknown): StorageQuotaError {
    return new StorageQuotaError(
      'The browser has no more storage for this site: delete stored models, free space on the disk, or choose a smaller model.',
      { cause },
    );
  }
}

/** OPFS is missing, or held by a worker of another tab that shares nothing with this one. */
export class ModelStoreError extends Error {
  override readonly name = 'ModelStoreError';
  readonly code = 'MODEL_STORE_FAILED';

  static because(cause: unknown): ModelStoreError {
    return new ModelStoreError(
      `The browser's storage for models cannot be used (${String(cause)}): only the embedded model serves. Close other windows of this page, leave private browsing, or use another browser.`,
      { cause },
    );
  }
}

/** A stored model was on its way again and again, and each time its page or its worker ended before it was there. */
export class ModelStartError extends Error {
  override readonly name = 'ModelStartError';
  readonly code = 'MODEL_START_FAILED';

  static of(id: string): ModelStartError {
    return new ModelStartError(
      `The last starts with ${id} were broken off, so the embedded model serves: load ${id} again, or a smaller model.`,
    );
  }
}

/** Whoever asked for it, or for another model, has ended this load. */
export class LoadCancelledError extends Error {
  override readonly name = 'LoadCancelledError';
  readonly code = 'LOAD_CANCELLED';

  static of(id: string, why: string): LoadCancelledError {
    return new LoadCancelledError(
      `Loading ${id} was ended (${why}): load it again to go on where it stopped.`,
    );
  }
}

export function isTransient(error: unknown): error is TransientHubError {
  return (
    error instanceof HubUnreachableError ||
    error instanceof HubUnavailableError ||
    error instanceof HubRateLimitError
  );
}

function inMegabytes(bytes: number): string {
  return `${Math.ceil(bytes / 1e6).toLocaleString('en')} MB`;
}
