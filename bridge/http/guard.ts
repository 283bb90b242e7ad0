import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';

import { HttpError } from './http-error.ts';
import { isLoopbackAddress } from './loopback.ts';

export interface GuardOptions {
  /** What the server listens on: `localhost`, a name or an address. */
  readonly host: string;
  /** Other origins whose pages may ask. */
  readonly allowedOrigins: readonly string[];
}

/** Who may ask: whoever addresses this server by a name that is its own, and no page of another origin. */
export class Guard {
  readonly #host: string;
  readonly #allowedOrigins: ReadonlySet<string>;

  constructor({ host, allowedOrigins }: GuardOptions) {
    // As browsers write it.
    this.#host = host.toLowerCase();
    this.#allowedOrigins = new Set(allowedOrigins);
  }

  /**
   * A page whose name was pointed at this machine after it had loaded (DNS rebinding) has that name as Host. An address
   * cannot be pointed elsewhere.
   *
   * @throws HttpError 403; 400 for two Host headers, which a proxy and this server may read differently.
   */
  checkHost(request: IncomingMessage): void {
    if (namesTwoHosts(request)) throw twoHosts();
    const { headers } = request;
    const name = hostnameOf(`http://${headers.host ?? ''}`);
    if (name !== undefined && this.#isOwnName(name)) return;
    const message = `The Host \`${headers.host ?? ''}\` is not a name of this server: use localhost, or start it with --host.`;
    throw HttpError.forbidden(message, 'FOREIGN_HOST');
  }

  /**
   * Also of requests that carry no Origin, as those of images do: browsers say where they come from in Sec-Fetch-Site.
   *
   * @throws HttpError 403.
   */
  checkOrigin(request: IncomingMessage): void {
    if (this.allowedOriginOf(request) !== undefined || !isForeign(request)) return;
    const message = 'Pages of other origins may not ask: allow one with --allow-origin.';
    throw HttpError.forbidden(message, 'FOREIGN_ORIGIN');
  }

  /**
   * Of what carries neither: a browser says nothing but its Referer to a server that it has no secure connection to, which is
   * any but those on loopback. A page can keep that to itself.
   *
   * @throws HttpError 403.
   */
  checkReferrer({ headers: { origin, referer, host, 'sec-fetch-site': site } }: IncomingMessage): void {
    if (origin !== undefined || site !== undefined || referer === undefined) return;
    if (hostOf(referer) === host?.toLowerCase()) return;
    throw HttpError.forbidden('Pages of other origins may not ask.', 'FOREIGN_ORIGIN');
  }

  /**
   * For the page that serves: what it sends could be written by hand, so nobody on another machine may ask, and no page of
   * another origin, whatever is allowed.
   *
   * @throws HttpError 403.
   */
  checkOwnPage(request: IncomingMessage): void {
    if (!isLoopbackAddress(request.socket.remoteAddress ?? '')) {
      const message = 'This is for the page alone, on the machine of the server: open it there.';
      throw HttpError.forbidden(message, 'FOREIGN_MACHINE');
    }
    if (!isForeign(request)) return;
    throw HttpError.forbidden('This is for pages of this server alone.', 'FOREIGN_ORIGIN');
  }

  /** The origin of another page that may ask. */
  allowedOriginOf({ headers: { origin } }: IncomingMessage): string | undefined {
    return origin !== undefined && this.#allowedOrigins.has(origin) ? origin : undefined;
  }

  #isOwnName(name: string): boolean {
    const bare = name.replace(/^\[|\]$/g, '');
    return name === 'localhost' || name.endsWith('.localhost') || name === this.#host || isIP(bare) !== 0;
  }
}

/** Node keeps the first of two Host headers, and hides the other. */
export function namesTwoHosts({ rawHeaders }: IncomingMessage): boolean {
  return rawHeaders.filter((name, index) => index % 2 === 0 && name.toLowerCase() === 'host').length > 1;
}

function twoHosts(): HttpError {
  return new HttpError(400, 'The request has two Host headers: send one.', { code: 'TWO_HOSTS' });
}

/** Somebody follows a link to the page. */
export function isNavigation({ method, headers }: IncomingMessage): boolean {
  return (
    method === 'GET' && headers['sec-fetch-mode'] === 'navigate' && headers['sec-fetch-dest'] === 'document'
  );
}

function isForeign({ headers }: IncomingMessage): boolean {
  const { origin, host } = headers;
  if (origin !== undefined) return hostOf(origin) !== host?.toLowerCase();
  const site = headers['sec-fetch-site'];
  return site === 'cross-site' || site === 'same-site';
}

/** Undefined for `null`, and for what is no origin at all. */
function hostOf(origin: string): string | undefined {
  return /^https?:/.test(origin) && URL.canParse(origin) ? new URL(origin).host : undefined;
}

function hostnameOf(url: string): string | undefined {
  if (!URL.canParse(url)) return undefined;
  const { hostname, pathname, search, username } = new URL(url);
  return pathname === '/' && search === '' && username === '' ? hostname : undefined;
}
