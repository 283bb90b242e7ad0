import type { IncomingMessage } from 'node:http';
import type { Exchange } from './exchange.ts';
import { HttpError } from '../../src/protocol/openai/http-error.ts';
import { urlTooLong } from './http-errors.ts';

export type Handle = (exchange: Exchange) => void | Promise<void>;

export interface Route {
  /** A `*` at its end takes the rest of any path. */
  readonly path: string;
  /** GET answers HEAD as well. */
  readonly methods: Readonly<Partial<Record<'GET' | 'POST' | 'PATCH' | 'DELETE', Handle>>>;
  /** Whether it asks the model for work. The number of such requests at a time is limited. */
  readonly isWork?: boolean;
  /** For pages of the bridge's own origin on this machine only. */
  readonly isPageOnly?: boolean;
  /** For clients on this machine only, if the operator allows it. */
  readonly isAdmin?: boolean;
  /** Whether a request to this path is for the route, and not for the page. */
  readonly isFor?: (request: IncomingMessage, url: URL) => boolean;
}

const MAX_URL_LENGTH = 8192;

/** Undefined for a URL that is not a path, or is too long. */
export function urlOf({ url = '' }: IncomingMessage): URL | undefined {
  // As a relative URL, `//x` would name a host.
  const isPath = url.startsWith('/') && url.length <= MAX_URL_LENGTH;
  return (isPath && URL.parse(`http://localhost${url}`)) || undefined;
}

/** Why `urlOf` gives undefined. */
export function invalidUrl({ url = '' }: IncomingMessage): HttpError {
  if (url.length <= MAX_URL_LENGTH) return HttpError.invalid('url', 'Expected the URL to be a path.');
  return urlTooLong(MAX_URL_LENGTH);
}

/** A route that answers GET alone. */
export function getRoute(path: string, handle: Handle): Route {
  return { path, methods: { GET: handle } };
}

/** A route that answers POST alone, with work of the model or a deployment. */
export function workRoute(path: string, handle: Handle): Route {
  return { path, isWork: true, methods: { POST: handle } };
}

export interface RouteMatch {
  readonly route: Route;
  /** The part of the path that `*` takes, decoded; else empty. */
  readonly rest: string;
}

/** Undefined where no route is for the request. */
export function findRoute(
  routes: readonly Route[],
  request: IncomingMessage,
  url: URL,
): RouteMatch | undefined {
  // Some clients end every path with a slash.
  const path = url.pathname.replace(/(?<=.)\/$/, '');
  for (const route of routes) {
    const rest = restOf(route.path, path);
    if (rest !== undefined && (route.isFor?.(request, url) ?? true)) return { route, rest };
  }
  return undefined;
}

function restOf(pattern: string, pathname: string): string | undefined {
  if (!pattern.endsWith('*')) return pathname === pattern ? '' : undefined;
  const prefix = pattern.slice(0, -1);
  return pathname.startsWith(prefix) && pathname.length > prefix.length
    ? decode(pathname.slice(prefix.length))
    : undefined;
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** @throws HttpError 405. */
export function handleOf({ methods }: Route, method = ''): Handle {
  // Node sends the headers of the answer to HEAD, and drops its body.
  const wanted = method === 'HEAD' ? 'GET' : method;
  const [, handle] = Object.entries(methods).find(([name]) => name === wanted) ?? [];
  if (handle) return handle;
  const allowed = Object.keys(methods);
  throw HttpError.methodNotAllowed(methods.GET ? [...allowed, 'HEAD'] : allowed);
}

const APIS = ['/v1/', '/api/'];

const STORES_NOTHING = 'Nothing is stored here.';
const TEXT_ONLY = 'Only text is generated, embedded and ranked here.';

const OPERATOR_LOADS = 'The operator chooses the model: `npm start -- --model ID`, or in the page.';

/** By the first part of a path of an API: why it isn't here. */
const REASONS: ReadonlyMap<string, string> = new Map([
  ...['batches', 'conversations', 'files', 'responses', 'uploads', 'vector_stores'].map(
    (name) => [name, STORES_NOTHING] as const,
  ),
  ...['blobs', 'copy', 'create', 'delete', 'pull', 'push'].map((name) => [name, OPERATOR_LOADS] as const),
  ...['audio', 'images', 'moderations', 'realtime'].map((name) => [name, TEXT_ONLY] as const),
]);

/** The answer to a path that no route has: below an API it names the endpoints, elsewhere the one that was probably meant. */
export function nothingAt(pathname: string, routes: readonly Route[]): HttpError {
  let end = pathname.length;
  while (pathname[end - 1] === '/') end -= 1;
  const path = pathname.slice(0, end);
  const meant = pathOf(routes.find((route) => !route.isPageOnly && isMeant(path, route.path)));
  if (meant !== undefined) return HttpError.notFound(pathname, `Did you mean ${meant}?`);
  const api = APIS.find((each) => `${path}/`.startsWith(each));
  if (api === undefined) return HttpError.notFound(pathname);
  const [name = ''] = path.slice(api.length).split('/');
  const endpoints = routes.filter((route) => route.path.startsWith(api)).map(describeRoute);
  const hint = `The endpoints are ${[...new Set(endpoints)].join(', ')}.`;
  return HttpError.notFound(pathname, [REASONS.get(name), hint].filter(Boolean).join(' '));
}

/** A base URL may lack `/v1` or have it twice, and a path may end with a slash. */
function isMeant(path: string, known: string): boolean {
  return path !== '' && known !== '/' && (known.endsWith(path) || path.endsWith(known));
}

function describeRoute(route: Route): string {
  return `${Object.keys(route.methods).join('/')} ${pathOf(route)}`;
}

function pathOf(route: Route | undefined): string | undefined {
  return route?.path.replace('*', '{name}');
}
