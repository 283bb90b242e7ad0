import type { TabserveError } from '../index.ts';

/** The DOMException of an error of the client, by its code. All others are the specification's `UnknownError`. */
const DOM_NAMES: ReadonlyMap<string, string> = new Map([
  ['CHAT_TEMPLATE_FAILED', 'NotSupportedError'],
  ['NO_CHAT_TEMPLATE', 'NotSupportedError'],
  ['RESPONSE_FORMAT_UNSUPPORTED', 'NotSupportedError'],
  ['TOOLS_UNSUPPORTED', 'NotSupportedError'],
  ['UNSUPPORTED_MODEL', 'NotSupportedError'],
  ['UNSUPPORTED_DTYPE', 'NotSupportedError'],
  ['MODEL_TOO_LARGE', 'NotSupportedError'],
  ['MODEL_NOT_FOUND', 'NetworkError'],
  ['MODEL_ACCESS_DENIED', 'NetworkError'],
  ['MODEL_FILE_MISSING', 'NetworkError'],
  ['HUB_UNREACHABLE', 'NetworkError'],
  ['HUB_UNAVAILABLE', 'NetworkError'],
  ['HUB_RATE_LIMITED', 'NetworkError'],
  ['HUB_BAD_ANSWER', 'NetworkError'],
  ['HUB_REDIRECT_FAILED', 'NetworkError'],
  ['LOAD_CANCELLED', 'NetworkError'],
  ['LOAD_ABANDONED', 'NetworkError'],
  ['REQUEST_CANCELLED', 'AbortError'],
  ['REQUEST_TIMEOUT', 'TimeoutError'],
  ['CLOSED', 'InvalidStateError'],
]);

interface Quota {
  /** Tokens that the prompt needs, with what the session holds already. */
  readonly requested: number;
  /** Tokens of the context window. */
  readonly quota: number;
}

type QuotaExceededErrorClass = new (message: string, quota: Quota) => DOMException & Quota;

/** For browsers that have no class `QuotaExceededError` yet. */
class OwnQuotaExceededError extends DOMException {
  readonly requested: number;
  readonly quota: number;

  constructor(message: string, { requested, quota }: Quota) {
    super(message, 'QuotaExceededError');
    this.requested = requested;
    this.quota = quota;
  }
}

export function quotaExceeded(quota: Quota): DOMException {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- no library of types has the class yet
  const { QuotaExceededError = OwnQuotaExceededError } = globalThis as {
    readonly QuotaExceededError?: QuotaExceededErrorClass;
  };
  return new QuotaExceededError(
    `The prompt needs ${quota.requested} tokens with what the session keeps, but the context window holds ${quota.quota}: shorten the prompt.`,
    quota,
  );
}

export function notSupported(message: string): DOMException {
  return new DOMException(message, 'NotSupportedError');
}

/** An error of the client as the specification names it, with the original as its `cause`. Other errors are returned unchanged. */
export function toDomException(error: unknown): unknown {
  if (!(error instanceof Error) || !isServeError(error)) return error;
  const exception = new DOMException(error.message, DOM_NAMES.get(error.code) ?? 'UnknownError');
  return Object.defineProperty(exception, 'cause', { value: error, configurable: true, writable: true });
}

/** A DOMException has a code too, which is a number. */
function isServeError(error: Error): error is Error & Pick<TabserveError, 'code'> {
  return 'code' in error && typeof error.code === 'string';
}
