import { HttpError } from '../../src/protocol/openai/http-error.ts';
import { readModelIds } from './answer-shape.ts';
import { fetchUpstream, type UpstreamOptions } from './upstream-client.ts';

const TIMEOUT_MS = 5000;

/** Asks the upstream for its models once. Resolves with the reason why it cannot serve; undefined if it can. */
export async function probeUpstream(
  upstream: UpstreamOptions,
  timeoutMs: number = TIMEOUT_MS,
): Promise<string | undefined> {
  const { url } = upstream;
  const signal = AbortSignal.timeout(timeoutMs);
  try {
    const headers = { accept: 'application/json' };
    const answer = await fetchUpstream(upstream, '/v1/models', { headers, signal });
    return describeAnswer(upstream, answer.status, await answer.text());
  } catch (error) {
    if (error instanceof HttpError) return error.message;
    return `${url} did not answer within ${timeoutMs / 1000} s: check that a server runs there and that --upstream names it.`;
  }
}

/** @throws HttpError for an answer that is not a list of models. */
function describeAnswer({ url, model }: UpstreamOptions, status: number, body: string): string | undefined {
  if (status === 401 || status === 403)
    return `${url} does not let the bridge in (HTTP status ${status}): set TABSERVE_UPSTREAM_API_KEY to a key of that server.`;
  if (status >= 500) return `${url} has failed (HTTP status ${status}): look at that server's log.`;
  const ids = readModelIds(url, status, body);
  if (model === undefined ? ids.length > 0 : ids.includes(model)) return undefined;
  const names = ids.join(', ') || 'no model';
  return `${url} does not serve ${model ?? 'any model'}, but ${names}: name one with --upstream-model.`;
}
