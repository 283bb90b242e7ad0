const CODES = [
  /** The upstream answered 401 or 403: its key is missing or wrong. */
  'UPSTREAM_ACCESS_DENIED',
  /** The server's answer is not in OpenAI's format. */
  'UPSTREAM_BAD_ANSWER',
  /** The upstream rejects an option, the prompt or the model (any other 4xx). */
  'UPSTREAM_REFUSED',
  /** The upstream decides this, not the page: how requests are batched, and which model runs. */
  'UPSTREAM_SERVES',
  /** The upstream answered with a 5xx status, or failed in the middle of an answer. */
  'UPSTREAM_UNAVAILABLE',
  /** The upstream gave no answer, or the connection broke. */
  'UPSTREAM_UNREACHABLE',
] as const;

/**
 * The kind of an upstream's failure.
 *
 * @useDeclaredType
 */
export type UpstreamErrorCode = (typeof CODES)[number];

export function isUpstreamErrorCode(code: string): code is UpstreamErrorCode {
  return CODES.some((known) => known === code);
}

/** A failure of the server that generates instead of a model in the tab. Its 429 is a BackPressureError. */
export class UpstreamError extends Error {
  override readonly name = 'UpstreamError';
  /** Stable: compare this, not the message. */
  readonly code: UpstreamErrorCode;

  constructor(code: UpstreamErrorCode, message: string, cause?: unknown) {
    super(message, { cause });
    this.code = code;
  }

  /** @param what Subject of the sentence, such as `Which model runs`. Only the upstream decides it. */
  static serves(url: string, what: string): UpstreamError {
    return new UpstreamError(
      'UPSTREAM_SERVES',
      `${what} is up to ${url}, which generates the text. Set it there, or run the model in the tab with ?backend=webgpu or ?backend=wasm.`,
    );
  }
}
