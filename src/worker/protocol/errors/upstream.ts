const CODES = [
  /** 401 or 403: its key is missing or wrong. */
  'UPSTREAM_ACCESS_DENIED',
  /** What it says is not what an OpenAI-compatible server says. */
  'UPSTREAM_BAD_ANSWER',
  /** Any other 4xx: an option, a prompt or a model that it does not take. */
  'UPSTREAM_REFUSED',
  /** What was asked for is the upstream's to decide: its knobs, its model. */
  'UPSTREAM_SERVES',
  /** 5xx, or an error in the middle of an answer. */
  'UPSTREAM_UNAVAILABLE',
  /** No answer, or one that was cut off. */
  'UPSTREAM_UNREACHABLE',
] as const;

export type UpstreamErrorCode = (typeof CODES)[number];

export function isUpstreamErrorCode(code: string): code is UpstreamErrorCode {
  return CODES.some((known) => known === code);
}

/** Of the server that generates instead of a model in the tab. What it refuses for its load is a BackPressureError. */
export class UpstreamError extends Error {
  override readonly name = 'UpstreamError';
  readonly code: UpstreamErrorCode;

  constructor(code: UpstreamErrorCode, message: string, cause?: unknown) {
    super(message, { cause });
    this.code = code;
  }

  /** @param what Is not to be had here. */
  static serves(url: string, what: string): UpstreamError {
    return new UpstreamError(
      'UPSTREAM_SERVES',
      `${what} is for ${url} to decide, which serves the text generator: set it there, or run the model in the tab with ?backend=webgpu or ?backend=wasm.`,
    );
  }
}
