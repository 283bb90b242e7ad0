import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import sirv from 'sirv';

export interface StaticHost {
  /** Address of the folder that is served, ending in `/`. */
  readonly url: string;
  readonly port: number;
  /** Requests that it had no file for. */
  readonly failures: readonly string[];
  /** Open connections are cut. */
  stop(): Promise<void>;
}

/**
 * Serves files as a generic host does, without headers for the page. Files may change meanwhile.
 *
 * @param path Where the folder is mounted, from `/` to `/`.
 */
export async function startStaticHost(folder: string, path: string): Promise<StaticHost> {
  const failures: string[] = [];
  const serveFile = sirv(folder, { dev: true, etag: true });
  const server = createServer((request, response) => {
    const { url = '' } = request;
    const miss = (): void => {
      // Browsers request it by themselves.
      if (url !== '/favicon.ico') failures.push(url);
      response.writeHead(404).end();
    };
    if (url.startsWith(path))
      serveFile(Object.assign(request, { url: url.slice(path.length - 1) }), response, miss);
    else miss();
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a server that listens on a port has such an address
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://localhost:${port}${path}`,
    port,
    failures,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
