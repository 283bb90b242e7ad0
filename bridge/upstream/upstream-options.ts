import { BridgeError } from '../errors.ts';

/** Any server that speaks OpenAI's API. */
export interface UpstreamOptions {
  /** Without a trailing slash, and without `/v1`. */
  readonly url: string;
  /** The model that the page uses; by default the first one. */
  readonly model?: string | undefined;
  /** Sent to the upstream only. */
  readonly apiKey?: string | undefined;
}

/** An address as OpenAI's clients take it, with or without `/v1` at its end. @throws BridgeError. */
export function parseUpstreamUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !/^https?:$/.test(url.protocol)) {
    throw BridgeError.invalid(
      'upstream',
      'the address of an OpenAI-compatible server, such as http://gpu-machine:8000',
      text,
    );
  }
  if (url.username || url.password) {
    const expected = 'an address without a password: put the key into TABSERVE_UPSTREAM_API_KEY';
    throw BridgeError.invalid('upstream', expected, `${url.protocol}//…@${url.host}`);
  }
  if (url.search || url.hash) throw BridgeError.invalid('upstream', 'an address without a query', text);
  return url.origin + url.pathname.replace(/\/+$/, '').replace(/\/v1$/, '');
}
