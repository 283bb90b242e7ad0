import type { IncomingMessage } from 'node:http';

import type { Exchange } from './exchange.ts';

export type Handle = (exchange: Exchange) => Promise<void>;

export interface Route {
  /** With a `*` at its end it takes any path that goes on from there. */
  readonly path: string;
  /** GET answers HEAD as well. */
  readonly methods: Readonly<Partial<Record<'GET' | 'POST' | 'DELETE', Handle>>>;
  /** The answer to GET has no end of its own, so HEAD is refused. */
  readonly isStream?: boolean;
  /** Whether it asks the model for work: of such requests only so many are taken at a time. */
  readonly isWork?: boolean;
  /** For pages of the bridge's own origin on this machine, whoever may ask for the rest. */
  readonly isPageOnly?: boolean;
  /** Whether a request to this path is for the route, and not for the page. */
  readonly isFor?: (request: IncomingMessage, url: URL) => boolean;
}

export interface RouteMatch {
  readonly route: Route;
  /** What stands for the `*`, decoded; else empty. */
  readonly rest: string;
}

/** Undefined where no route is for the request. */
export function findRoute(
  routes: readonly Route[],
  request: IncomingMessage,
  url: URL,
): RouteMatch | undefined {
  for (const route of routes) {
    const rest = restOf(route.path, url.pathname);
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
