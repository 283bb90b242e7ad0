import * as v from 'valibot';

import { parseJson } from '../platform/parse-json.ts';
import { isServerErrorCode } from './errors/server.ts';
import { accessDenied, badAnswer, lacksPath, rateLimited, refused, unavailable } from './server-errors.ts';
import { fromWireError, isErrorCode } from './wire-errors.ts';

/** An HTTP answer without a success status. */
export interface Refusal {
  readonly path: string;
  readonly status: number;
  /** In OpenAI's shape, or any text. */
  readonly body: string;
  /** The `Retry-After` header. */
  readonly retryAfter?: string | null;
}

/** Longer details are an HTML page or a stack trace. */
const MAX_DETAIL_LENGTH = 500;

const openAiError = v.object({
  error: v.object({
    message: v.string(),
    code: v.optional(v.nullable(v.union([v.string(), v.number()]))),
    param: v.optional(v.nullable(v.string())),
  }),
});

/** Every OpenAI-compatible server has these. */
const ESSENTIAL = /^\/v1\/(?:models|completions|chat\/completions)$/;
/** How servers word that they lack a path. A model that they lack has its name in the message. */
const NOTHING_THERE = /^(?:|(?:file )?not found\.?)$/i;

/** @param url The server's address, for messages. */
export function toServerError(url: string, { path, status, body, retryAfter }: Refusal): Error {
  const { message, code, param } = readError(body);
  const detail = message && ` It says: ${message}`;
  // Another Tabserve, or the bridge itself: its message is complete.
  if (typeof code === 'string' && (isErrorCode(code) || isServerErrorCode(code)))
    return fromWireError({
      code,
      message,
      details: { retryAfterMs: parseRetryAfter(retryAfter) },
      ...(param !== undefined && { param }),
    });
  if (code === 'context_length_exceeded') return fromWireError({ code: 'PROMPT_TOO_LONG', message });
  if ((status === 404 || status === 405) && NOTHING_THERE.test(message))
    return ESSENTIAL.test(path) ? badAnswer(url, `with HTTP status ${status}`) : lacksPath(url, path);
  if (status === 429) return rateLimited(url, parseRetryAfter(retryAfter), detail);
  if (status === 401 || status === 403) return accessDenied(url, status, detail);
  return (status >= 500 || status === 408 ? unavailable : refused)(url, status, detail);
}

/** An error that a server reports in the middle of a stream, after the status was sent. */
export function toStreamError(url: string, payload: string): Error | undefined {
  const { message, code } = readError(payload);
  if (!message) return undefined;
  const status = typeof code === 'number' ? code : 500;
  return toServerError(url, { path: '', status, body: payload });
}

/** Reads seconds only, because a date would be from another clock. */
export function parseRetryAfter(text: string | null | undefined): number {
  return text && /^\d+(?:\.\d+)?$/.test(text) ? Number(text) * 1000 : 0;
}

function readError(body: string) {
  const parsed = v.safeParse(openAiError, parseJson(body));
  if (!parsed.success) return { message: '' };
  const { message, code, param } = parsed.output.error;
  return {
    message: message.slice(0, MAX_DETAIL_LENGTH),
    code: code ?? undefined,
    param: param ?? undefined,
  };
}
