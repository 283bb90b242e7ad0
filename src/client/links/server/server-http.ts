import { writeOrderedJson } from '../../../batching/base/ordered-json.ts';
import { unreachable } from '../../../protocol/server-errors.ts';
import { toServerError } from '../../../protocol/server-failure.ts';
import { parseOptions } from '../../../batching/base/parse-options.ts';
import { isWholeText, validator } from '../../../batching/base/validate.ts';
import { InvalidOptionError } from '../../../batching/base/errors.ts';

/** Where a server is. */
export interface ServerAddress {
  /** Without a slash or `/v1` at its end. */
  readonly url: string;
  /** The address for messages. Another one where the page's own server passes requests on. */
  readonly shownUrl?: string | undefined;
  readonly apiKey?: string | undefined;
}

/** Asks one server. Each method rejects with a ServerError, or with the error that another Tabserve names. */
export class ServerHttp {
  readonly shownUrl: string;
  readonly #url: string;
  readonly #headers: Readonly<Record<string, string>>;

  /** @throws InvalidOptionError, UnknownOptionError: these are options of `connect`. */
  constructor(options: ServerAddress) {
    checkServerOptions(options);
    const { url, shownUrl = url, apiKey } = options;
    this.#url = url;
    this.shownUrl = shownUrl;
    this.#headers = apiKey === undefined ? {} : { Authorization: `Bearer ${apiKey}` };
  }

  async text(path: string, signal: AbortSignal): Promise<string> {
    const answer = await this.#fetch(path, { signal, headers: this.#headers });
    return answer.text().catch((error: unknown) => {
      throw unreachable(this.shownUrl, reasonOf(error), error);
    });
  }

  async json(path: string, body: object, signal: AbortSignal): Promise<unknown> {
    const answer = await this.post(path, body, signal);
    return answer.json().catch(() => undefined);
  }

  post(path: string, body: object, signal: AbortSignal): Promise<Response> {
    const headers = { ...this.#headers, 'Content-Type': 'application/json' };
    return this.#fetch(path, { signal, headers, method: 'POST', body: writeOrderedJson(body) ?? '' });
  }

  /** Follows no redirect: the key is for this server alone. */
  async #fetch(path: string, init: RequestInit): Promise<Response> {
    const answer = await fetch(this.#url + path, { ...init, redirect: 'error' }).catch((error: unknown) => {
      throw unreachable(this.shownUrl, reasonOf(error), error);
    });
    if (answer.ok) return answer;
    const { status, headers } = answer;
    const retryAfter = headers.get('retry-after');
    throw toServerError(this.shownUrl, { path, status, body: await answer.text(), retryAfter });
  }
}

/** Node has the reason in the cause, such as `connect ECONNREFUSED 127.0.0.1:8000`. */
export function reasonOf(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  return cause instanceof Error ? cause.message || cause.name : String(cause);
}

const KEY =
  '1 or more visible ASCII characters, or left out for a server without a key (at the bridge: TABSERVE_UPSTREAM_API_KEY)';

/** Never shows the key: messages reach logs. */
const isKey = validator(KEY, (value, refuse): string => {
  if (typeof value !== 'string') throw refuse(`a value of type ${typeof value}`);
  if (!/^[!-~]+$/.test(value)) throw refuse(value === '' ? value : 'other characters');
  return value;
});

/** The options of `connect({ server, … })`. */
const CHECKS = {
  server: isWholeText,
  model: isWholeText,
  embedder: isWholeText,
  reranker: isWholeText,
  apiKey: isKey,
};

/**
 * Checks what names a server's models and holds its key.
 *
 * @param options As the caller gave them, beside what this library adds: `url`, `shownUrl` and `clock`.
 * @throws InvalidOptionError, UnknownOptionError.
 */
function checkServerOptions(options: object): void {
  const added = new Set(['url', 'shownUrl', 'clock']);
  const given = Object.entries(options).filter(([name]) => !added.has(name));
  parseOptions('options', CHECKS, Object.fromEntries(given));
}

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
