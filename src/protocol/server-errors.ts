import { BackPressureError } from '../batching/base/errors.ts';
import { ServerError } from './errors/server.ts';

// The messages are here and not in the class, which every page loads.

/** @param detail What the server says, as a sentence after a space; empty if it says nothing. */
export function accessDenied(url: string, status: number, detail: string): ServerError {
  return new ServerError(
    'SERVER_ACCESS_DENIED',
    `${url} denies access (HTTP status ${status}). Pass a key of that server to connect() as \`apiKey\`, or start the bridge with TABSERVE_UPSTREAM_API_KEY set to one.${detail}`,
  );
}

export function unavailable(url: string, status: number, detail: string): ServerError {
  return new ServerError(
    'SERVER_UNAVAILABLE',
    `${url} failed (HTTP status ${status}). Submit the request again, or look at that server's log.${detail}`,
  );
}

export function refused(url: string, status: number, detail: string): ServerError {
  return new ServerError(
    'SERVER_REFUSED',
    `${url} refused the request (HTTP status ${status}). Change the prompt or the options.${detail}`,
  );
}

/** @param names The models that it has. */
export function modelNotServed(url: string, model: string, names: string): ServerError {
  return new ServerError(
    'SERVER_REFUSED',
    `${url} does not serve the model ${model}: it has ${names}. Name one of them: connect({ server, model }), or --upstream-model.`,
  );
}

export function unreachable(url: string, why: string, cause?: unknown): ServerError {
  return new ServerError(
    'SERVER_UNREACHABLE',
    `Couldn't reach ${url}, or the connection was cut (${why}). Check its address, that it runs, and that it lets pages of this origin ask (CORS), then submit the request again.`,
    cause,
  );
}

/** @param what As in "answered /tokenize with …" or "answered with …". */
export function badAnswer(url: string, what: string): ServerError {
  return new ServerError(
    'SERVER_BAD_ANSWER',
    `${url} answered ${what}. Check that it is the address of an OpenAI-compatible server.`,
  );
}

export function lacksPath(url: string, path: string): ServerError {
  return new ServerError(
    'SERVER_LACKS_PATH',
    `${url} has nothing at ${path}, which not every OpenAI-compatible server does. Connect to one that has it, or to a model in the tab: connect({ worker }).`,
  );
}

/**
 * @param what The sentence up to the server's address.
 * @param remedy An imperative, without a period.
 */
export function notAtServer(url: string, what: string, remedy: string): ServerError {
  return new ServerError('NOT_AT_SERVER', `${what} ${url}: ${remedy}.`);
}

export function rateLimited(url: string, retryAfterMs: number, detail: string): BackPressureError {
  const when = retryAfterMs > 0 ? `in ${Math.ceil(retryAfterMs / 1000)} s` : 'in a while';
  return new BackPressureError(
    `${url} has too many requests (HTTP status 429). Submit the request again ${when}.${detail}`,
    // The queue of the server is not known.
    { numQueuedRequests: 0, maxQueuedRequests: 0, retryAfterMs },
  );
}
