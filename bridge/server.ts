import { createServer, type RequestListener, type Server } from 'node:http';

import { BridgeError } from './errors.ts';
import { serveStaticFiles } from './static-files.ts';

export interface ServerOptions {
  /** 0 lets the system choose a free port. */
  readonly port: number;
  /** `localhost` stands for both loopback addresses, 127.0.0.1 and ::1. */
  readonly host: string;
  /** Folder of the built page. */
  readonly root: string;
  /** Where the page may fetch models from: a hub, and the origins that it redirects to. None or empty for huggingface.co. */
  readonly hub?: readonly string[];
  /** The page's Content-Security-Policy, where it is another one than that of the built page. */
  readonly policy?: string;
}

export interface RunningServer {
  readonly url: string;
  readonly port: number;
  /** Idempotent; open connections are cut. */
  close(): Promise<void>;
}

/** Serves the built page with cross-origin isolation; resolves once every address is bound. */
export async function startServer(options: ServerOptions): Promise<RunningServer> {
  const handler = serveStaticFiles(options.root, options.hub ?? [], options.policy);
  const servers = await listenOnAll(options.host, options.port, handler);
  const port = portOf(servers[0]);
  const host = options.host.includes(':') ? `[${options.host}]` : options.host;
  return { url: `http://${host}:${port}`, port, close: () => closeAll(servers) };
}

/** A machine may have no ::1; then 127.0.0.1 alone is what `localhost` means there. */
async function listenOnAll(
  host: string,
  port: number,
  handler: RequestListener,
): Promise<readonly [Server, ...Server[]]> {
  if (host !== 'localhost') return [await listen(host, port, handler)];
  const first = await listen('127.0.0.1', port, handler);
  try {
    const second = await listen('::1', portOf(first), handler);
    return [first, second];
  } catch (error) {
    if (isErrno(error, 'EADDRNOTAVAIL', 'EAFNOSUPPORT')) return [first];
    await closeAll([first]);
    throw error;
  }
}

async function listen(host: string, port: number, handler: RequestListener): Promise<Server> {
  const server = createServer(handler);
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once('error', reject);
  server.listen({ host, port }, resolve);
  try {
    await promise;
  } catch (error) {
    throw isErrno(error, 'EADDRINUSE') ? BridgeError.portInUse(host, port, error) : error;
  }
  server.off('error', reject);
  return server;
}

function portOf(server: Server): number {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new TypeError('The server listens on no port');
  return address.port;
}

async function closeAll(servers: readonly Server[]): Promise<void> {
  await Promise.all(servers.map(close));
}

async function close(server: Server): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  server.close(() => resolve());
  server.closeAllConnections();
  await promise;
}

function isErrno(error: unknown, ...codes: readonly string[]): boolean {
  return error instanceof Error && 'code' in error && codes.includes(String(error.code));
}
