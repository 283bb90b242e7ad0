import { InvalidOptionError } from '../../../batching/base/errors.ts';

/** An address as OpenAI's clients take it, with or without `/v1` at its end; undefined for any other text. */
export function serverUrlOf(server: unknown): string | undefined {
  const base = 'document' in globalThis ? document.baseURI : undefined;
  const url = typeof server === 'string' ? URL.parse(server, base) : undefined;
  if (!url || !/^https?:$/.test(url.protocol) || url.username || url.search || url.hash) return undefined;
  return url.origin + url.pathname.replace(/\/+$/, '').replace(/\/v1$/, '');
}

/** @throws InvalidOptionError. */
export function toServerUrl(server: unknown): string {
  const url = serverUrlOf(server);
  const expected =
    'the address of an OpenAI-compatible server, such as https://gpu-machine:8000, without a key or a query';
  if (url === undefined) throw InvalidOptionError.of('server', expected, withoutPassword(server));
  return url;
}

export function withoutPassword(address: unknown): string {
  return String(address).split('@').at(-1) ?? '';
}
