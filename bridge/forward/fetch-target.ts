import type { IncomingHttpHeaders } from 'node:http';

import { reasonOf as causeOf, ServerHttp } from '../../src/client/links/server/server-http.ts';
import { readServerModel } from '../../src/protocol/openai/server-model.ts';
import { unreachable } from '../../src/protocol/server-errors.ts';
import { reasonOf } from '../base/errors.ts';

/** Any server that speaks OpenAI's API. */
export interface ForwardTarget {
  /** Without a trailing slash, and without `/v1`. */
  readonly url: string;
  /** The model that the page uses; by default the first one. */
  readonly model?: string | undefined;
  /** Sent to the target only. */
  readonly apiKey?: string | undefined;
}

/** Headers that are passed on to the target. Cookies and connection headers are not. */
const REQUEST_HEADERS = ['accept', 'content-type', 'user-agent', 'x-request-id', 'x-request-timeout-seconds'];

/** The caller's headers for the target. Its own key is passed on only if the bridge has none. */
export function forwardedHeaders(
  headers: IncomingHttpHeaders,
  { apiKey }: ForwardTarget,
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
 * Asks the target. Redirects are not followed: the key is for this server only.
 *
 * @param path With the query; begins with `/`.
 * @throws ServerError for a target that cannot be reached; the signal's reason where it aborts.
 */
export async function fetchTarget(
  { url, apiKey }: ForwardTarget,
  path: string,
  init: RequestInit & { readonly signal: AbortSignal },
): Promise<Response> {
  try {
    const headers = new Headers(init.headers);
    if (apiKey !== undefined) headers.set('authorization', `Bearer ${apiKey}`);
    return await fetch(url + path, { ...init, headers, redirect: 'manual' });
  } catch (error) {
    throw init.signal.aborted ? error : unreachable(url, causeOf(error), error);
  }
}

export function isEventStream(headers: Headers): boolean {
  return headers.get('content-type')?.startsWith('text/event-stream') ?? false;
}

/** Asks the target for its models once. Resolves with the reason why it cannot serve; undefined if it can. */
export async function probeTarget(
  { url, model, apiKey }: ForwardTarget,
  timeoutMs = 5000,
): Promise<string | undefined> {
  const signal = AbortSignal.timeout(timeoutMs);
  try {
    const http = new ServerHttp({ url, apiKey });
    readServerModel(url, model, await http.text('/v1/models', signal));
    return undefined;
  } catch (error) {
    return signal.aborted ? `${url} did not answer within ${timeoutMs / 1000} s.` : reasonOf(error);
  }
}
