import { BackPressureError } from '../batching/base/errors.ts';
import { UpstreamError } from './errors/upstream.ts';

// The messages are here and not in the class, which every page loads.

/** @param detail What the server says, as a sentence after a space; empty if it says nothing. */
export function accessDenied(url: string, status: number, detail: string): UpstreamError {
  return new UpstreamError(
    'UPSTREAM_ACCESS_DENIED',
    `${url} denies access (HTTP status ${status}). Start the bridge with TABSERVE_UPSTREAM_API_KEY set to a key of that server.${detail}`,
  );
}

export function unavailable(url: string, status: number, detail: string): UpstreamError {
  return new UpstreamError(
    'UPSTREAM_UNAVAILABLE',
    `${url} failed (HTTP status ${status}). Submit the request again, or look at that server's log.${detail}`,
  );
}

export function refused(url: string, status: number, detail: string): UpstreamError {
  return new UpstreamError(
    'UPSTREAM_REFUSED',
    `${url} refused the request (HTTP status ${status}). Change the prompt or the options.${detail}`,
  );
}

/** @param names The models that it has. */
export function modelNotServed(url: string, model: string, names: string): UpstreamError {
  return new UpstreamError(
    'UPSTREAM_REFUSED',
    `${url} does not serve the model ${model}: it has ${names}. Name one of them with --upstream-model.`,
  );
}

export function unreachable(url: string, why: string, cause?: unknown): UpstreamError {
  return new UpstreamError(
    'UPSTREAM_UNREACHABLE',
    `Couldn't reach ${url}, or the connection was cut (${why}). Check that it runs and that --upstream names it, then submit the request again.`,
    cause,
  );
}

/** @param what What came, as the object of the sentence. */
export function badAnswer(url: string, what: string): UpstreamError {
  return new UpstreamError(
    'UPSTREAM_BAD_ANSWER',
    `${url} answered with ${what}. Check that --upstream names an OpenAI-compatible server.`,
  );
}

export function rateLimited(url: string, retryAfterMs: number, detail: string): BackPressureError {
  const when = retryAfterMs > 0 ? `in ${Math.ceil(retryAfterMs / 1000)} s` : 'in a while';
  return new BackPressureError(
    `${url} has too many requests (HTTP status 429). Submit the request again ${when}.${detail}`,
    // The queue of the upstream is not known.
    { numQueuedRequests: 0, maxQueuedRequests: 0, retryAfterMs },
  );
}
