import type { IncomingHttpHeaders } from 'node:http';

import { codeOf, reasonOf } from '../base/errors.ts';
import { HttpError } from '../../src/protocol/openai/http-error.ts';
import { upstreamUnreachable } from '../http/http-errors.ts';

/** Any server that speaks OpenAI's API. */
export interface UpstreamOptions {
  /** Without a trailing slash, and without `/v1`. */
  readonly url: string;
  /** The model that the page uses; by default the first one. */
  readonly model?: string | undefined;
  /** Sent to the upstream only. */
  readonly apiKey?: string | undefined;
}

/** Headers that are passed on to the upstream. Cookies and connection headers are not. */
const REQUEST_HEADERS = ['accept', 'content-type', 'user-agent', 'x-request-id', 'x-request-timeout-seconds'];

/** The caller's headers for the upstream. Its own key is passed on only if the bridge has none. */
export function forwardedHeaders(
  headers: IncomingHttpHeaders,
  { apiKey }: UpstreamOptions,
): Record<string, string> {
  const names = apiKey === undefined ? [...REQUEST_HEADERS, 'authorization'] : REQUEST_HEADERS;
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
 * @param path With the query; begins with `/`.
 * @throws HttpError 502 for an upstream that cannot be reached; the signal's reason where it aborts.
 */
export async function fetchUpstream(
  { url, apiKey }: UpstreamOptions,
  path: string,
  init: RequestInit & { readonly signal: AbortSignal },
): Promise<Response> {
  try {
    const headers = new Headers(init.headers);
    if (apiKey !== undefined) headers.set('authorization', `Bearer ${apiKey}`);
    return await fetch(url + path, { ...init, headers, redirect: 'manual' });
  } catch (error) {
    throw init.signal.aborted ? error : unreachable(url, error);
  }
}

export function isEventStream(headers: Headers): boolean {
  return headers.get('content-type')?.startsWith('text/event-stream') ?? false;
}

export function unreachable(url: string, error: unknown): HttpError {
  // The cause of Node's `fetch failed` has the reason: `ECONNREFUSED`, for example.
  const cause = error instanceof Error ? (error.cause ?? error) : error;
  const reason = codeOf(cause) ?? reasonOf(cause);
  return upstreamUnreachable(url, reason);
}
