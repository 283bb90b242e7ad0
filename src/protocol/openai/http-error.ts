import { shown } from '../../batching/base/errors.ts';
import { describeKnown } from '../../batching/base/nearest-name.ts';

/** The error types of OpenAI's API. Of the others, those below 500 are invalid requests. */
const TYPE_OF_STATUS: Readonly<Record<number, string>> = {
  403: 'permission_error',
  408: 'timeout_error',
  429: 'rate_limit_error',
  503: 'service_unavailable_error',
};

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
    this.param = param === undefined ? null : shown(param);
    this.headers = headers;
  }

  static invalid(param: string, message: string, code = 'INVALID_OPTION'): HttpError {
    return new HttpError(400, message, { code, param });
  }

  /** @param got The value that was given; left out where a message does not quote it. */
  static expected(param: string, expected: string, got?: string): HttpError {
    const end = got === undefined ? '' : `, got \`${shown(got)}\``;
    return HttpError.invalid(param, `Expected \`${shown(param)}\` to be ${expected}${end}.`);
  }

  static unknown(param: string, known: readonly string[]): HttpError {
    const message = `Unknown option \`${shown(param)}\`: ${describeKnown(param, known, 'docs/http-api.md')}.`;
    return HttpError.invalid(param, message, 'UNKNOWN_OPTION');
  }

  /** @param hint What is there instead, in sentences. */
  static notFound(path: string, hint?: string): HttpError {
    const end = hint === undefined ? '' : ` ${hint}`;
    return new HttpError(404, `There is nothing at ${shown(path)}.${end}`, { code: 'NOT_FOUND' });
  }

  static methodNotAllowed(allowed: readonly string[]): HttpError {
    const allow = allowed.join(', ');
    return new HttpError(405, `The method must be one of: ${allow}.`, {
      code: 'METHOD_NOT_ALLOWED',
      headers: { Allow: allow },
    });
  }

  static unsupportedBody(expected: string): HttpError {
    return new HttpError(415, `The body must be ${expected}.`, { code: 'UNSUPPORTED_MEDIA_TYPE' });
  }

  static forbidden(message: string, code: string): HttpError {
    return new HttpError(403, message, { code });
  }

  get type(): string {
    return TYPE_OF_STATUS[this.status] ?? (this.status < 500 ? 'invalid_request_error' : 'server_error');
  }

  toJSON(): object {
    const { message, type, param, code } = this;
    return { error: { message, type, param, code } };
  }
}
