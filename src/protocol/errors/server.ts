/**
 * The kind of a server's failure.
 *
 * @useDeclaredType
 */
export type ServerErrorCode =
  /** What is asked for needs a model in the tab, or only the server decides it: its remedy is in the message. */
  | 'NOT_AT_SERVER'
  /** The server answered 401 or 403: its key is missing or wrong. */
  | 'SERVER_ACCESS_DENIED'
  /** The server's answer is not in OpenAI's format. */
  | 'SERVER_BAD_ANSWER'
  /** The server has nothing at the path that would answer. */
  | 'SERVER_LACKS_PATH'
  /** The server rejects an option, the prompt or the model (any other 4xx). */
  | 'SERVER_REFUSED'
  // Another Tabserve is shutting down: see the errors of HTTP.
  | 'SERVER_STOPPING'
  /** The server answered with a 5xx status, or failed in the middle of an answer. */
  | 'SERVER_UNAVAILABLE'
  /** The server gave no answer, or the connection broke. */
  | 'SERVER_UNREACHABLE';

export function isServerErrorCode(code: string): code is ServerErrorCode {
  return /^(?:SERVER_|NOT_AT_SERVER$)/.test(code);
}

/** A failure of the server of `connect({ server })`, or something that no server does. Its 429 is a BackPressureError. */
export class ServerError extends Error {
  override readonly name = 'ServerError';
  /** Stable: compare this, not the message. */
  readonly code: ServerErrorCode;

  constructor(code: ServerErrorCode, message: string, cause?: unknown) {
    super(message, { cause });
    this.code = code;
  }
}
