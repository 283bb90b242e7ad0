import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import sirv from 'sirv';

/** An app that is served. */
export interface ServedApp {
  readonly url: string;
  close(): Promise<void>;
}

/** By path, such as `/my-worker.js`. */
export type HeadersOf = (path: string) => Readonly<Record<string, string>>;

const NO_HEADERS: HeadersOf = () => ({});

/** Serves the first folder that has a file, from a port of its own: an origin of its own. */
export async function serveFolders(
  folders: readonly string[],
  headersOf: HeadersOf = NO_HEADERS,
): Promise<ServedApp> {
  const setHeaders = (response: ServerResponse, path: string): void => {
    for (const [name, value] of Object.entries(headersOf(path))) response.setHeader(name, value);
  };
  const handlers = folders.map((folder) => sirv(folder, { dev: true, setHeaders }));
  const server = createServer((request, response) => {
    const next = (index: number): void => {
      const handle = handlers[index];
      if (handle) handle(request, response, () => next(index + 1));
      else response.writeHead(404).end();
    };
    next(0);
  });
  await new Promise<void>((resolve) => void server.listen(0, 'localhost', resolve));
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a server that listens on a port has such an address
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://localhost:${port}/`,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => void server.close(resolve));
    },
  };
}
