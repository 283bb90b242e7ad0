import {
  HubAnswerError,
  HubRateLimitError,
  HubRedirectError,
  HubUnavailableError,
  HubUnreachableError,
  ModelAccessError,
  ModelNotFoundError,
} from '../../../protocol/errors/hub.ts';
import { LOCAL_OWNER } from '../../../protocol/bridge-names.ts';

// The messages are here and not in the classes, which every page loads.

export function offline(host: string, cause: unknown): HubUnreachableError {
  return new HubUnreachableError(
    `Couldn't reach ${host}: this device is offline. Connect it and try again; a download continues where it stopped.`,
    { cause },
  );
}

export function unreachable(host: string, cause: unknown): HubUnreachableError {
  return new HubUnreachableError(
    `Couldn't reach ${host}: it gave no answer, stopped in the middle, cut the connection, or hides its answer from this page (CORS). Check the hub's address and try again; a download continues where it stopped.`,
    { cause },
  );
}

/** Files of the public hub come from more hosts. */
const HOSTS: ReadonlyMap<string, string> = new Map([
  ['https://huggingface.co', 'https://huggingface.co https://*.huggingface.co https://*.hf.co'],
]);

export function forbidden(host: string, cause: unknown): HubUnreachableError {
  const hosts = HOSTS.get(host) ?? host;
  return new HubUnreachableError(
    `The Content-Security-Policy of the worker's script blocks ${host}. Serve that script with \`connect-src 'self' ${hosts}\`, and with each host that it redirects files to. Tabserve's server does so with \`--hub ${host}\`.`,
    { maxFailures: 1, cause },
  );
}

export function unavailable(host: string, status: number, retryAfterMs: number): HubUnavailableError {
  return new HubUnavailableError(
    `${host} failed (HTTP status ${status}). Try again later; a download continues where it stopped.`,
    { retryAfterMs },
  );
}

export function rateLimited(host: string, retryAfterMs: number): HubRateLimitError {
  const wait = retryAfterMs > 0 ? `in ${Math.ceil(retryAfterMs / 1000)} s` : 'in a few minutes';
  return new HubRateLimitError(
    `${host} got too many requests from this address (HTTP status 429). Try again ${wait}; a download continues where it stopped.`,
    { retryAfterMs },
  );
}

/** @param what Names the thing that was requested. */
export function webPage(host: string, what: string): HubAnswerError {
  return new HubAnswerError(
    `${host} answered with a web page instead of ${what}. Open ${host} in a new tab: this network may want you to sign in, or no hub is at this address. Then try again; a download continues where it stopped.`,
  );
}

export function badAnswer(host: string, detail: string): HubAnswerError {
  return new HubAnswerError(
    `${host} doesn't answer as a hub does: ${detail}. Check the hub's address, or try again later; a download continues where it stopped.`,
  );
}

/** @param what Names the thing that was requested. */
export function redirectFailed(host: string, what: string, cause: unknown): HubRedirectError {
  return new HubRedirectError(
    `${host} redirects ${what}, and the redirect fails: it leads in a circle, or to a host that gives no answer or hides it from this page (CORS). Try again later, or use another hub; a download continues where it stopped.`,
    { maxFailures: 3, cause },
  );
}

/** @param what Names the thing that was requested. */
export function redirectForbidden(host: string, what: string, cause: unknown): HubRedirectError {
  return new HubRedirectError(
    `${host} redirects ${what} to a host that this page's policy (connect-src) forbids. Allow that host (\`--hub URL\` of the server), or use another hub; a download continues where it stopped.`,
    { maxFailures: 1, cause },
  );
}

export function gated(id: string, host: string, status: number): ModelAccessError {
  return new ModelAccessError(
    `${id} is gated (HTTP status ${status}). Ask its authors for access on ${host}, download the files there and load the folder.`,
  );
}

export function accessDenied(id: string, host: string, status: number): ModelAccessError {
  return new ModelAccessError(
    `${host} denies access to ${id} (HTTP status ${status}). Download the files with your account and load the folder.`,
  );
}

/** @param what Names what is missing, as the words before the ID. */
export function notFound(id: string, host: string, what: string): ModelNotFoundError {
  if (id.startsWith(`${LOCAL_OWNER}/`)) {
    return new ModelNotFoundError(
      `${host} has no ${what} ${id}: its files have changed since the server started, or another server is at this address. Start the server again, and open its page anew.`,
    );
  }
  const advice = id.includes('/')
    ? 'Check the ID and the revision.'
    : "A model's ID has an owner, as in owner/name.";
  return new ModelNotFoundError(
    `${host} has no ${what} ${id}. ${advice} A private model looks like a missing one.`,
  );
}
