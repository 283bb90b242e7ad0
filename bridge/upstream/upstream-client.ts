import type { IncomingHttpHeaders } from 'node:http';

import { HttpError } from '../http/http-error.ts';
import type { UpstreamOptions } from './upstream-options.ts';

export interface UpstreamRequest {
  readonly method: string;
  /** With the query; begins with `/v1/`. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Buffer<ArrayBuffer> | undefined;
  readonly signal: AbortSignal;
}

/** What a caller may say to the upstream; cookies and what belongs to one connection stay here. */
const REQUEST_HEADERS = ['accept', 'content-type', 'user-agent', 'x-request-id', 'x-request-timeout-seconds'];

/** Those of the caller that go on; a caller brings a key of its own only where the bridge has none. */
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
 * Asks the upstream. One that cannot be reached answers 502, in OpenAI's shape; redirects are not followed, since the key is
 * for this server alone.
 *
 * @throws AbortError where the signal aborts.
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
    if (signal.aborted) throw error;
    return Response.json(unreachable(error), { status: 502 });
  }
}

/** What the worker knows the upstream's silence by. */
export function unreachable(error: unknown): HttpError {
  return new HttpError(502, reasonOf(error), { code: 'UPSTREAM_UNREACHABLE' });
}

/** Node's `fetch failed` has what matters in its cause: `ECONNREFUSED`, say. */
function reasonOf(error: unknown): string {
  const cause = error instanceof Error ? (error.cause ?? error) : error;
  if (cause instanceof Error) return 'code' in cause ? String(cause.code) : cause.message;
  return String(cause);
}
