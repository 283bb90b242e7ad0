import * as v from 'valibot';

import { parseJson } from '../platform/parse-json.ts';
import { BackPressureError } from '../batching/errors.ts';
import { isUpstreamErrorCode, UpstreamError } from './errors/upstream.ts';

/** An HTTP answer without a success status. */
export interface Refusal {
  readonly status: number;
  /** In OpenAI's shape, or any text. */
  readonly body: string;
  /** The `Retry-After` header. */
  readonly retryAfter?: string | undefined;
}

/** Longer details are an HTML page or a stack trace. */
const MAX_DETAIL_LENGTH = 500;

const openAiError = v.object({
  error: v.object({
    message: v.string(),
    code: v.optional(v.nullable(v.union([v.string(), v.number()]))),
  }),
});

/** @param url The upstream's address as the bridge was given it. */
export function toUpstreamError(url: string, { status, body, retryAfter }: Refusal): Error {
  const { message, code } = readError(body);
  const detail = message && ` It says: ${message}`;
  // An error of the bridge itself: its message is complete.
  if (typeof code === 'string' && isUpstreamErrorCode(code)) return new UpstreamError(code, message);
  if ((status === 404 || status === 405) && !message) return badAnswer(url, `HTTP status ${status}`);
  if (status === 429) return rateLimited(url, retryAfter, detail);
  if (status === 401 || status === 403) {
    return new UpstreamError(
      'UPSTREAM_ACCESS_DENIED',
      `${url} denies access (HTTP status ${status}). Start the bridge with TABSERVE_UPSTREAM_API_KEY set to a key of that server.${detail}`,
    );
  }
  if (status >= 500) {
    return new UpstreamError(
      'UPSTREAM_UNAVAILABLE',
      `${url} failed (HTTP status ${status}). Submit the request again, or look at that server's log.${detail}`,
    );
  }
  return new UpstreamError(
    'UPSTREAM_REFUSED',
    `${url} refused the request (HTTP status ${status}). Change the prompt or the options.${detail}`,
  );
}

export function unreachable(url: string, why: string, cause?: unknown): UpstreamError {
  return new UpstreamError(
    'UPSTREAM_UNREACHABLE',
    `Couldn't reach ${url}, or the connection was cut (${why}). Check that it runs and that --upstream names it, then submit the request again.`,
    cause,
  );
}

export function badAnswer(url: string, what: string): UpstreamError {
  return new UpstreamError(
    'UPSTREAM_BAD_ANSWER',
    `${url} answered with ${what}. Check that --upstream names an OpenAI-compatible server.`,
  );
}

/** An error that a server reports in the middle of a stream, after the status was sent. */
export function toStreamError(url: string, payload: string): Error | undefined {
  const { message, code } = readError(payload);
  if (!message) return undefined;
  return toUpstreamError(url, { status: typeof code === 'number' ? code : 500, body: payload });
}

function rateLimited(url: string, retryAfter: string | undefined, detail: string): BackPressureError {
  const retryAfterMs = parseRetryAfter(retryAfter);
  const when = retryAfterMs > 0 ? `in ${Math.ceil(retryAfterMs / 1000)} s` : 'in a while';
  return new BackPressureError(
    `${url} has too many requests (HTTP status 429). Submit the request again ${when}.${detail}`,
    // The queue of the upstream is not known.
    { numQueuedRequests: 0, maxQueuedRequests: 0, retryAfterMs },
  );
}

/** Reads seconds only, because a date would be from another clock. */
function parseRetryAfter(text = ''): number {
  return /^\d+(?:\.\d+)?$/.test(text) ? Number(text) * 1000 : 0;
}

function readError(body: string): { readonly message: string; readonly code?: string | number | undefined } {
  const parsed = v.safeParse(openAiError, parseJson(body));
  if (!parsed.success) return { message: '' };
  const { message, code } = parsed.output.error;
  return { message: message.slice(0, MAX_DETAIL_LENGTH), code: code ?? undefined };
}
