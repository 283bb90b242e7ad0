import type { RequestListener, ServerResponse } from 'node:http';
import sirv from 'sirv';

import { listen, type Listening } from '../../bridge/testing/listen.ts';

export type ServedApp = Pick<Listening, 'url' | 'close'>;

export interface ServedFolders extends Listening {
  /** Requests that no folder had a file for. */
  readonly failures: readonly string[];
}

/** By path, such as `/my-worker.js`. */
export type HeadersOf = (path: string) => Readonly<Record<string, string>>;

const NO_HEADERS: HeadersOf = () => ({});

/**
 * Serves the first folder that has a file, as a generic host does, from a port of its own: an origin of its own. Files may change
 * meanwhile.
 *
 * @param mount Where the folders are, from `/` to `/`.
 */
export async function serveFolders(
  folders: readonly string[],
  headersOf: HeadersOf = NO_HEADERS,
  mount = '/',
): Promise<ServedFolders> {
  const setHeaders = (response: ServerResponse, path: string): void => {
    for (const [name, value] of Object.entries(headersOf(path))) response.setHeader(name, value);
  };
  const handlers = folders.map((folder) => sirv(folder, { dev: true, etag: true, setHeaders }));
  const failures: string[] = [];
  const answer: RequestListener = (request, response) => {
    const { url = '' } = request;
    const next = (index: number): void => {
      const handle = url.startsWith(mount) ? handlers[index] : undefined;
      if (handle) {
        handle(Object.assign(request, { url: url.slice(mount.length - 1) }), response, () => next(index + 1));
        return;
      }
      // Browsers request it by themselves.
      if (url !== '/favicon.ico') failures.push(url);
      response.writeHead(404).end();
    };
    next(0);
  };
  const listening = await listen(answer, 'localhost');
  return { ...listening, url: `${listening.url}${mount}`, failures };
}
