import { BridgeError } from '../errors.ts';

/** Any server that speaks OpenAI's API. */
export interface UpstreamOptions {
  /** Without a trailing slash, and without `/v1`. */
  readonly url: string;
  /** Which of its models the page is to use; the first one where left out. */
  readonly model?: string | undefined;
  /** Never leaves this process but for the upstream. */
  readonly apiKey?: string | undefined;
}

/** An address as OpenAI's clients take it, with or without `/v1` at its end. @throws BridgeError. */
export function parseUpstreamUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !/^https?:$/.test(url.protocol)) {
    throw refusal('the address of an OpenAI-compatible server, such as http://gpu-machine:8000', text);
  }
  if (url.username || url.password) {
    const expected = 'an address without a password: put the key into TABSERVE_UPSTREAM_API_KEY';
    throw refusal(expected, `${url.protocol}//…@${url.host}`);
  }
  if (url.search || url.hash) throw refusal('an address without a query', text);
  return url.origin + url.pathname.replace(/\/+$/, '').replace(/\/v1$/, '');
}

function refusal(expected: string, got: string): BridgeError {
  const message = `Expected \`--upstream\` to be ${expected}, got \`${got}\` (string)`;
  return new BridgeError('INVALID_ARGUMENT', message);
}
