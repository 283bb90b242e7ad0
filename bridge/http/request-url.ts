import type { IncomingMessage } from 'node:http';

import { HttpError } from './http-error.ts';

const MAX_URL_LENGTH = 8192;

/** Undefined for a URL that is not a path, or is too long. */
export function urlOf({ url = '' }: IncomingMessage): URL | undefined {
  if (!url.startsWith('/') || url.length > MAX_URL_LENGTH) return undefined;
  // As a relative URL, `//x` would name a host.
  const absolute = `http://localhost${url}`;
  return URL.canParse(absolute) ? new URL(absolute) : undefined;
}

/** Why `urlOf` gives undefined. */
export function invalidUrl({ url = '' }: IncomingMessage): HttpError {
  if (url.length <= MAX_URL_LENGTH) return HttpError.invalid('url', 'Expected the URL to be a path.');
  const message = `The URL is longer than ${MAX_URL_LENGTH} characters: send its fields in the body of a POST, as \`curl -d\` does.`;
  return new HttpError(414, message, { code: 'URL_TOO_LONG' });
}
