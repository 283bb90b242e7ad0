import type { IncomingHttpHeaders } from 'node:http';

import { HttpError } from '../http/http-error.ts';
import type { UpstreamOptions } from './upstream-options.ts';

export interface UpstreamRequest {
  readonly method: string;
  /** With the query; begins with `/`. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Buffer<ArrayBuffer> | undefined;
  readonly signal: AbortSignal;
}

/** Headers that are passed on to the upstream. Cookies and connection headers are not. */
const REQUEST_HEADERS = ['accept', 'content-type', 'user-agent', 'x-request-id', 'x-request-timeout-seconds'];

/** The caller's headers for the upstream. Its own key is passed on only if the bridge has none. */
export function forwardedHeaders(headers: IncomingHttpHeaders, hasKey: boolean): Record<string, string> {
  const names = hasKey ? REQUEST_HEADERS : [...REQUEST_HEADERS, 'authorization'];
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = headers[name];
      return typeof value === 'string' ? [[name, value]] : [];
    }),
  );
}

/**
 * Asks the upstream. Redirects are not followed: the key is for this server only.
 *
 * @throws HttpError 502 for an upstream that cannot be reached; the signal's reason where it aborts.
 */
export async function fetchUpstream(
  { url, apiKey }: UpstreamOptions,
  { method, path, headers, body, signal }: UpstreamRequest,
): Promise<Response> {
  const authorization = apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` };
  try {
    return await fetch(url + path, {
      method,
      headers: { ...headers, ...authorization },
      ...(body !== undefined && { body }),
      redirect: 'manual',
      signal,
    });
  } catch (error) {
    throw signal.aborted ? error : unreachable(url, error);
  }
}

export function isEventStream(headers: Headers): boolean {
  return headers.get('content-type')?.startsWith('text/event-stream') ?? false;
}

/** The worker recognizes this error by its code. */
export function unreachable(url: string, error: unknown): HttpError {
  const message = `${url} cannot be reached, or it cut the connection (${reasonOf(error)}): check that a server runs there and that --upstream names it.`;
  return new HttpError(502, message, { code: 'UPSTREAM_UNREACHABLE' });
}

/** The cause of Node's `fetch failed` has the reason: `ECONNREFUSED`, for example. */
function reasonOf(error: unknown): string {
  const cause = error instanceof Error ? (error.cause ?? error) : error;
  if (cause instanceof Error) return 'code' in cause ? String(cause.code) : cause.message;
  return String(cause);
}
