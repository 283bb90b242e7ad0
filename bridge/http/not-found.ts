import { HttpError } from '../../src/protocol/openai/http-error.ts';
import type { Route } from './router.ts';

const API = '/v1/';

const STORES_NOTHING = 'Nothing is stored here.';
const TEXT_ONLY = 'Only text is generated, embedded and ranked here.';

/** By the first part of a path of OpenAI's API: why it isn't here. */
const REASONS: ReadonlyMap<string, string> = new Map([
  ...['batches', 'conversations', 'files', 'responses', 'uploads', 'vector_stores'].map(
    (name) => [name, STORES_NOTHING] as const,
  ),
  ...['audio', 'images', 'moderations', 'realtime'].map((name) => [name, TEXT_ONLY] as const),
]);

/** The answer to a path that no route has: below `/v1` it names the endpoints, elsewhere the one that was probably meant. */
export function nothingAt(pathname: string, routes: readonly Route[]): HttpError {
  let end = pathname.length;
  while (pathname[end - 1] === '/') end -= 1;
  const path = pathname.slice(0, end);
  const meant = pathOf(routes.find((route) => !route.isPageOnly && isMeant(path, route.path)));
  if (meant !== undefined) return HttpError.notFound(pathname, `Did you mean ${meant}?`);
  if (!`${path}/`.startsWith(API)) return HttpError.notFound(pathname);
  const [name = ''] = path.slice(API.length).split('/');
  const endpoints = routes.filter((route) => route.path.startsWith(API)).map(describeRoute);
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
