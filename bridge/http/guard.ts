import type { IncomingMessage, IncomingHttpHeaders } from 'node:http';
import { isIP } from 'node:net';
import type { Exchange } from './exchange.ts';
import { isLoopbackAddress, isLoopbackHost } from './loopback.ts';
import {
  adminFromElsewhere,
  adminNotAllowed,
  foreignHost,
  foreignOrigin,
  notOwnMachine,
  notOwnPage,
  twoHosts,
} from './http-errors.ts';

interface GuardOptions {
  /** The server's own address or name. */
  readonly host: string;
  /** Origins of other pages that may send requests. */
  readonly allowedOrigins: readonly string[];
  /** Whether clients on this machine may change knobs. */
  readonly allowsAdmin?: boolean | undefined;
}

/** Refuses requests under a foreign host name, and those of pages of other origins. */
export class Guard {
  readonly #host: string;
  readonly #allowedOrigins: ReadonlySet<string>;

  readonly #allowsAdmin: boolean;

  constructor({ host, allowedOrigins, allowsAdmin = false }: GuardOptions) {
    // Browsers send it in lower case.
    this.#host = host.toLowerCase();
    this.#allowedOrigins = new Set(allowedOrigins);
    this.#allowsAdmin = allowsAdmin;
  }

  /**
   * Stops DNS rebinding: a page whose name was later pointed at this machine sends that name as Host. An IP address cannot
   * be pointed elsewhere.
   *
   * @throws HttpError 403; 400 for two Host headers, which a proxy and this server may read differently.
   */
  checkHost(request: IncomingMessage): void {
    if (namesTwoHosts(request)) throw twoHosts();
    const { headers } = request;
    const name = hostnameOf(`http://${headers.host ?? ''}`);
    if (name !== undefined && this.#isOwnName(name)) return;
    throw foreignHost(headers.host ?? '');
  }

  /**
   * Some requests, such as those for images, carry no Origin. Browsers then send Sec-Fetch-Site.
   *
   * @throws HttpError 403.
   */
  checkOrigin(request: IncomingMessage): void {
    if (this.allowedOriginOf(request) !== undefined || !isForeign(request)) return;
    throw foreignOrigin();
  }

  /**
   * On insecure connections beyond loopback, a browser sends neither Origin nor Sec-Fetch-Site, but a Referer. A page can
   * suppress its Referer, so this stops careless pages only.
   *
   * @throws HttpError 403.
   */
  checkReferrer({ headers: { origin, referer, host, 'sec-fetch-site': site } }: IncomingMessage): void {
    if (origin !== undefined || site !== undefined || referer === undefined) return;
    if (hostOf(referer) === host?.toLowerCase()) return;
    throw foreignOrigin();
  }

  /**
   * For routes of the page that serves. Headers can be forged from another machine, so only loopback may ask, and no other
   * origin even if it is allowed elsewhere.
   *
   * @throws HttpError 403.
   */
  checkOwnPage(request: IncomingMessage): void {
    if (!isLoopbackAddress(request.socket.remoteAddress ?? '')) throw notOwnMachine();
    if (!isForeign(request)) return;
    throw notOwnPage();
  }

  /**
   * For routes that change how the server works. A proxy on this machine connects from loopback too, but usually names its client,
   * itself or the host that the client asked for.
   *
   * @throws HttpError 403.
   */
  checkAdmin(request: IncomingMessage): void {
    const { socket, headers } = request;
    if (!this.#allowsAdmin) throw adminNotAllowed();
    const host = hostnameOf(`http://${headers.host ?? ''}`)?.replace(/^\[|\]$/g, '') ?? '';
    if (
      isLoopbackAddress(socket.remoteAddress ?? '') &&
      isLoopbackHost(host) &&
      !isProxied(headers) &&
      !isForeign(request)
    )
      return;
    throw adminFromElsewhere();
  }

  /** The request's origin, if it is another one that is allowed. */
  allowedOriginOf({ headers: { origin } }: IncomingMessage): string | undefined {
    return origin !== undefined && this.#allowedOrigins.has(origin) ? origin : undefined;
  }

  #isOwnName(name: string): boolean {
    const bare = name.replace(/^\[|\]$/g, '');
    return name === 'localhost' || name.endsWith('.localhost') || name === this.#host || isIP(bare) !== 0;
  }
}

/** Node keeps only the first of two Host headers. */
export function namesTwoHosts({ rawHeaders }: IncomingMessage): boolean {
  return rawHeaders.filter((name, index) => index % 2 === 0 && name.toLowerCase() === 'host').length > 1;
}

/** Whether the request comes from a link to the page. */
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

/** Undefined for `null` and for invalid origins. */
function hostOf(origin: string): string | undefined {
  return /^https?:/.test(origin) ? URL.parse(origin)?.host : undefined;
}

function hostnameOf(text: string): string | undefined {
  const url = URL.parse(text);
  return url?.pathname === '/' && url.search === '' && url.username === '' ? url.hostname : undefined;
}

const PREFLIGHT_SECONDS = '600';

/** Lets a page of this origin read the answer. */
export function allowOrigin({ response }: Exchange, origin: string): void {
  response.setHeader('Access-Control-Allow-Origin', origin);
  response.setHeader('Access-Control-Expose-Headers', 'X-Request-Id, Retry-After');
  response.setHeader('Cross-Origin-Resource-Policy', 'cross-origin');
  response.setHeader('Vary', 'Origin');
}

/**
 * Browsers send a preflight before requests that a form could not make. The answer allows every header that the client asks
 * for: unknown ones are ignored. Returns false for any other request.
 */
export function answerPreflight({ request, response }: Exchange): boolean {
  const { headers, method } = request;
  if (method !== 'OPTIONS' || headers['access-control-request-method'] === undefined) return false;
  response.setHeader('Access-Control-Allow-Methods', 'GET, POST');
  response.setHeader('Access-Control-Allow-Headers', headers['access-control-request-headers'] ?? '');
  response.setHeader('Access-Control-Max-Age', PREFLIGHT_SECONDS);
  if (headers['access-control-request-private-network'])
    response.setHeader('Access-Control-Allow-Private-Network', 'true');
  response.writeHead(204).end();
  return true;
}

/** Headers by which proxies, load balancers and CDNs name their client, the host it asked for, or themselves. */
const PROXY_HEADERS = [
  'ali-cdn-real-ip',
  'cdn-loop',
  'cf-connecting-ip',
  'cf-connecting-ipv6',
  'cf-pseudo-ipv4',
  'cf-ray',
  'client-ip',
  'do-connecting-ip',
  'fastly-client-ip',
  'fly-client-ip',
  'forwarded',
  'forwarded-for',
  'proxy-client-ip',
  'remote-addr',
  'true-client-ip',
  'via',
  'wl-proxy-client-ip',
  'x-appengine-user-ip',
  'x-azure-clientip',
  'x-azure-socketip',
  'x-client-ip',
  'x-cluster-client-ip',
  'x-envoy-external-address',
  'x-envoy-internal',
  'x-forwarded',
  'x-forwarded-by',
  'x-forwarded-client-cert',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-port',
  'x-forwarded-prefix',
  'x-forwarded-proto',
  'x-forwarded-protocol',
  'x-forwarded-scheme',
  'x-forwarded-server',
  'x-forwarded-ssl',
  'x-host',
  'x-nf-client-connection-ip',
  'x-original-forwarded-for',
  'x-original-host',
  'x-original-url',
  'x-originating-ip',
  'x-proxyuser-ip',
  'x-real-ip',
  'x-real-port',
  'x-remote-addr',
  'x-remote-ip',
  'x-rewrite-url',
  'x-vercel-forwarded-for',
] as const;

/** Whether a proxy that says so has passed the request on. */
function isProxied(headers: IncomingHttpHeaders): boolean {
  return PROXY_HEADERS.some((name) => headers[name] !== undefined);
}
