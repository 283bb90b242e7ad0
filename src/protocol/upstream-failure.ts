import * as v from 'valibot';

import { parseJson } from '../platform/parse-json.ts';
import { isUpstreamErrorCode, UpstreamError } from './errors/upstream.ts';
import { accessDenied, badAnswer, rateLimited, refused, unavailable } from './upstream-errors.ts';

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
  if (status === 429) return rateLimited(url, parseRetryAfter(retryAfter), detail);
  if (status === 401 || status === 403) return accessDenied(url, status, detail);
  return (status >= 500 ? unavailable : refused)(url, status, detail);
}

/** An error that a server reports in the middle of a stream, after the status was sent. */
export function toStreamError(url: string, payload: string): Error | undefined {
  const { message, code } = readError(payload);
  if (!message) return undefined;
  return toUpstreamError(url, { status: typeof code === 'number' ? code : 500, body: payload });
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
