/** The error types of OpenAI's API. */
export type ErrorType =
  | 'invalid_request_error'
  | 'permission_error'
  | 'not_found_error'
  | 'timeout_error'
  | 'rate_limit_error'
  | 'server_error'
  | 'service_unavailable_error';

interface Details {
  readonly code: string;
  /** The invalid option or field. */
  readonly param?: string | undefined;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A request that is answered with an error, in OpenAI's shape. */
export class HttpError extends Error {
  override readonly name = 'HttpError';
  readonly status: number;
  readonly code: string;
  readonly param: string | null;
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, message: string, { code, param, headers = {} }: Details) {
    super(message);
    this.status = status;
    this.code = code;
    this.param = param ?? null;
    this.headers = headers;
  }

  static invalid(param: string, message: string, code = 'INVALID_OPTION'): HttpError {
    return new HttpError(400, message, { code, param });
  }

  static unknown(param: string, known: readonly string[]): HttpError {
    const message = `Unknown option \`${param}\`: the options are ${known.join(', ')}.`;
    return HttpError.invalid(param, message, 'UNKNOWN_OPTION');
  }

  static notFound(path: string): HttpError {
    return new HttpError(404, `There is nothing at ${path}.`, { code: 'NOT_FOUND' });
  }

  static methodNotAllowed(allowed: readonly string[]): HttpError {
    const allow = allowed.join(', ');
    return new HttpError(405, `The method must be one of: ${allow}.`, {
      code: 'METHOD_NOT_ALLOWED',
      headers: { Allow: allow },
    });
  }

  /** The connection closes: the rest of the body is not read. */
  static tooLarge(maxBytes: number): HttpError {
    return new HttpError(413, `The body is larger than ${maxBytes} bytes.`, {
      code: 'BODY_TOO_LARGE',
      headers: { Connection: 'close' },
    });
  }

  static timedOut(seconds: number): HttpError {
    const message = `The request did not end within the ${seconds} s of \`x-request-timeout-seconds\` and was ended.`;
    return new HttpError(408, message, { code: 'REQUEST_TIMEOUT', param: 'x-request-timeout-seconds' });
  }

  static stopping(retryAfterSeconds: number): HttpError {
    return new HttpError(503, `The server is stopping: ask again in ${retryAfterSeconds} s.`, {
      code: 'SERVER_STOPPING',
      headers: { 'Retry-After': String(retryAfterSeconds), Connection: 'close' },
    });
  }

  static unsupportedBody(expected: string): HttpError {
    return new HttpError(415, `The body must be ${expected}.`, { code: 'UNSUPPORTED_MEDIA_TYPE' });
  }

  static forbidden(message: string, code: string): HttpError {
    return new HttpError(403, message, { code });
  }

  get type(): ErrorType {
    switch (this.status) {
      case 403:
        return 'permission_error';
      case 404:
        return 'not_found_error';
      case 408:
        return 'timeout_error';
      case 429:
        return 'rate_limit_error';
      case 503:
        return 'service_unavailable_error';
      default:
        return this.status < 500 ? 'invalid_request_error' : 'server_error';
    }
  }

  toJSON(): object {
    const { message, type, param, code } = this;
    return { error: { message, type, param, code } };
  }
}
