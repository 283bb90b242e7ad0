import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A server of this machine, with an origin of its own. */
export interface Listening extends AsyncDisposable {
  readonly url: string;
  readonly port: number;
  /** Idempotent; open connections are cut. */
  readonly close: () => Promise<void>;
}

export async function listen(answer: RequestListener, host = '127.0.0.1'): Promise<Listening> {
  const server = createServer(answer);
  await once(server.listen(0, host), 'listening');
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a server that listens on a port has such an address
  const { port } = server.address() as AddressInfo;
  const close = async (): Promise<void> => {
    server.closeAllConnections();
    await new Promise((resolve) => void server.close(resolve));
  };
  return { url: `http://${host}:${port}`, port, close, [Symbol.asyncDispose]: close };
}

/** For a program that listens by itself. */
export async function findFreePort(host?: string): Promise<number> {
  const { port, close } = await listen(() => {}, host);
  await close();
  return port;
}
